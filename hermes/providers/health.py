"""Which providers and keys are to be left alone for a while, for all agents of a process.

It knows nothing of what to do about it: `agent/chain.py` chooses whom to ask.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

LONGEST_REST = 900.0
"""What a rest grows to while every try fails; a provider that asks for more gets it."""
LONGEST_ASKED = 3600.0
PROBE_SECONDS = 30.0
"""How long others stay away while one caller tries whether it works again."""
REMEMBERED_SECONDS = 3600.0


class Spot(NamedTuple):
    """One model at one address with one key. Never shown: it holds the key."""

    base_url: str
    model: str
    api_key: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Why a spot is left alone, and for how long."""

    until: float
    reason: str
    times: int
    """How often in a row."""


class Health:
    """Safe to use from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rests: dict[Spot, Rest] = {}
        self._turns: dict[tuple[str, ...], int] = {}

    @property
    def is_calm(self) -> bool:
        """Whether nothing is wrong anywhere, as nearly always."""
        return not self._rests

    def rest(
        self, spot: Spot, seconds: float, reason: str, retry_after: float | None = None
    ) -> None:
        """Leave it alone: as long as it asks for, else for longer each time in a row."""
        with self._lock:
            now = self._clock()
            self._forget_old(now)
            last = self._rests.get(spot)
            times = last.times + 1 if last else 1
            grown = min(seconds * 2 ** min(times - 1, 10), LONGEST_REST)
            wait = grown if retry_after is None else min(retry_after, LONGEST_ASKED)
            self._rests[spot] = Rest(now + wait, reason, times)

    def resting(self, spot: Spot) -> Rest | None:
        """The rest it still needs, if any."""
        rest = self._rests.get(spot)
        return rest if rest is not None and rest.until > self._clock() else None

    def left(self, spot: Spot) -> float:
        """Seconds until it may be asked again."""
        rest = self._rests.get(spot)
        return max(0.0, rest.until - self._clock()) if rest else 0.0

    def admit(self, spot: Spot) -> bool:
        """Whether it may be asked now. After a rest one caller is let in first, to see."""
        if spot not in self._rests:
            return True
        with self._lock:
            rest, now = self._rests.get(spot), self._clock()
            if rest is None:
                return True
            if rest.until > now:
                return False
            self._rests[spot] = Rest(now + PROBE_SECONDS, rest.reason, rest.times)
            return True

    def answered(self, spot: Spot) -> bool:
        """It works; whether that is news."""
        with self._lock:
            return self._rests.pop(spot, None) is not None

    def next_turn(self, pool: tuple[str, ...]) -> int:
        """Whose turn it is among so many keys, one after another."""
        with self._lock:
            turn = self._turns.get(pool, -1) + 1
            self._turns[pool] = turn % len(pool)
            return self._turns[pool]

    def _forget_old(self, now: float) -> None:
        """What nobody has asked for long, an address that is configured no more for example."""
        for spot, rest in list(self._rests.items()):
            if rest.until + REMEMBERED_SECONDS < now:
                del self._rests[spot]
