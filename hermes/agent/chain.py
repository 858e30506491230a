"""Whom an agent asks: its provider, the further keys of it, and the providers behind it.

Who needs a rest is known to all agents of a process (`providers/health.py`); here is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hermes.core.events import Notice
from hermes.providers.health import Health, Spot
from hermes.settings.model import ProviderSettings


class Seat(NamedTuple):
    """A provider of the chain and one of its keys, both counted from 0."""

    place: int
    key: int


FIRST = Seat(0, 0)


class Chain:
    """Belongs to one agent, and to one turn at a time."""

    def __init__(
        self,
        providers: Sequence[ProviderSettings],
        health: Health,
        adopt: Callable[[ProviderSettings], None],
    ) -> None:
        """`adopt` lets the agent go on with another provider, or with another key of the same."""
        self.providers = providers
        self._health = health
        self._adopt = adopt
        self._seat = FIRST
        self._tried: set[Seat] = set()
        self._failed: set[Seat] = set()
        self._has_choice = len(providers) > 1 or len(providers[0].api_keys) > 1

    @property
    def is_elsewhere(self) -> bool:
        """Whether another provider than the first is asked."""
        return self._seat.place != 0

    @property
    def current(self) -> ProviderSettings:
        return self._provider(self._seat)

    def fork(self, adopt: Callable[[ProviderSettings], None]) -> Chain:
        """For another agent, which begins where this one stands."""
        other = Chain(self.providers, self._health, adopt)
        other._seat = self._seat
        return other

    def begin_turn(self) -> Notice | None:
        """Choose the first who is well, or else the one whose rest ends first."""
        if not self._has_choice or self._stays():
            return None
        self._failed.clear()
        before, seats = self._seat, self._in_order()
        chosen = next((seat for seat in seats if self._admits(seat)), None)
        self._sit(chosen or min(seats, key=self._left))
        return self._told_where(before)

    def begin_call(self) -> None:
        """From now on everybody may be asked once more."""
        if self._tried:
            self._tried.clear()

    def next_key(self) -> str | None:
        """Go on with another key of the same provider that is well; its name, or None."""
        place, key = self._seat
        for seat in self._keys_of(place, after=key):
            if seat != self._seat and self._is_open(seat) and self._admits(seat):
                self._sit(seat)
                return f"key {seat.key + 1}"
        return None

    def next_provider(self) -> str | None:
        """Go on with another provider, one who is well if there is any; its model, or None."""
        chosen = min(self._elsewhere(), key=self._left, default=None)
        if chosen is None:
            return None
        self._admits(chosen)  # if it is to be seen whether it is well again, then by this call
        self._sit(chosen)
        return self.current.model

    def has_alternative(self) -> bool:
        """Whether there is another provider to ask, and it is well."""
        return any(self._left(seat) == 0 for seat in self._elsewhere())

    def leave(self) -> Seat:
        """The one who is asked now has failed for this call."""
        self._tried.add(self._seat)
        self._failed.add(self._seat)
        return self._seat

    def rest(self, seat: Seat, seconds: float, reason: str, *, retry_after: float | None) -> None:
        """All agents leave it alone for a while; with 0 seconds nobody does."""
        if seconds:
            self._health.rest(self._spot(seat), seconds, reason, retry_after)

    def answered(self) -> Notice | None:
        """The one who is asked has answered; worth telling where that was in doubt."""
        if self._health.is_calm or not self._health.answered(self._spot(self._seat)):
            return None
        return Notice("provider_recovered", f"{self.current.model} answers again.")

    def _stays(self) -> bool:
        """As nearly always: the first one is asked, and nobody has any trouble."""
        is_first = self._seat == FIRST and self.providers[0].key_strategy == "fill_first"
        return is_first and self._health.is_calm

    def _in_order(self) -> list[Seat]:
        return [
            seat
            for place, provider in enumerate(self.providers)
            for seat in self._keys_of(place, after=self._turn_before(provider))
        ]

    def _turn_before(self, provider: ProviderSettings) -> int:
        """The key after which this turn begins to look."""
        takes_turns = provider.key_strategy == "round_robin" and len(provider.api_keys) > 1
        return self._health.next_turn(provider.api_keys) - 1 if takes_turns else -1

    def _keys_of(self, place: int, *, after: int = -1) -> list[Seat]:
        count = len(self.providers[place].api_keys) or 1
        return [Seat(place, (after + step) % count) for step in range(1, count + 1)]

    def _elsewhere(self) -> list[Seat]:
        """Those at other providers who may be asked for this call, the first ones first."""
        if not self._has_choice:
            return []
        asked = {self._seat.place, *(seat.place for seat in self._tried)}
        others = (place for place in range(len(self.providers)) if place not in asked)
        return [seat for place in others for seat in self._keys_of(place) if self._is_open(seat)]

    def _is_open(self, seat: Seat) -> bool:
        """Not asked for this call; and where it has failed in this turn, rested since."""
        if seat in self._tried:
            return False
        return seat not in self._failed or self._left(seat) == 0

    def _admits(self, seat: Seat) -> bool:
        return self._health.admit(self._spot(seat))

    def _left(self, seat: Seat) -> float:
        return self._health.left(self._spot(seat))

    def _spot(self, seat: Seat) -> Spot:
        return spot_of(self._provider(seat))

    def _provider(self, seat: Seat) -> ProviderSettings:
        provider = self.providers[seat.place]
        if not provider.api_keys:
            return provider
        return replace(provider, api_key=provider.api_keys[seat.key])

    def _sit(self, seat: Seat) -> None:
        if seat != self._seat:
            self._seat = seat
            self._adopt(self._provider(seat))

    def _told_where(self, before: Seat) -> Notice | None:
        """A turn that does not begin with the first provider says why; once back, says nothing."""
        if self._seat.place in (0, before.place):
            return None
        rest = self._health.resting(self._spot(FIRST))
        why = f" ({rest.reason})" if rest else ""
        return Notice(
            "provider_fallback",
            f"{self.providers[0].model} needs a rest{why}. Continuing with {self.current.model}.",
        )


def spot_of(provider: ProviderSettings) -> Spot:
    return Spot(provider.base_url, provider.model, provider.api_key or "")
