"""How many turns may run at once, in all and for each key. Used on the event loop only."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from hermes.core.errors import RateLimited

RETRY_AFTER_SECONDS = "5"


class Gate:
    """Counts the turns at work. Those that cannot wait are turned away when there are too many."""

    def __init__(self, max_total: int, max_per_owner: Callable[[str], int]) -> None:
        self._max_total = max_total
        self._max_per_owner = max_per_owner
        """0: as many as there are places."""
        self._total = 0
        self._by_owner: dict[str, int] = {}
        self.on_room: Callable[[], None] | None = None
        """Told whenever a place was given back; somebody may wait for one."""

    def __len__(self) -> int:
        return self._total

    def entered(self, owner: str) -> Place:
        """A place, taken when this returns; `RateLimited` when there is none.

        It is given back at the end of a `with` block, or by `leave`.
        """
        if self.is_full:
            raise _refusal(
                f"The gateway is at work on {self._total} turns, as many as `runs.max_concurrent` "
                "allows. Try again in a moment."
            )
        self.refuse_too_many(owner)
        return self.taken(owner)

    @property
    def is_full(self) -> bool:
        return self._total >= self._max_total

    def has_room_for(self, owner: str) -> bool:
        """Whether somebody who waits may begin."""
        return not self.is_full and not self._has_too_many(owner)

    def _has_too_many(self, owner: str) -> bool:
        count = self._by_owner.get(owner, 0)
        return count > 0 and count >= (self._max_per_owner(owner) or self._max_total + 1)

    def refuse_too_many(self, owner: str) -> None:
        """Raises `RateLimited` for a key that has as many turns at work as it may have."""
        if self._has_too_many(owner):
            count = self._by_owner[owner]
            raise _refusal(
                f"Your key has {count} turns at work, as many as `runs.max_per_key` or its own "
                "`max_concurrent` allows. Wait for one of them to end."
            )

    def taken(self, owner: str) -> Place:
        """A place for somebody who has waited for it."""
        self._total += 1
        self._by_owner[owner] = self._by_owner.get(owner, 0) + 1
        return Place(self._give_back, owner)

    def _give_back(self, owner: str) -> None:
        self._total -= 1
        count = self._by_owner.pop(owner) - 1
        if count:
            self._by_owner[owner] = count
        if self.on_room is not None:
            self.on_room()


class Place:
    """One turn's place behind the gate."""

    __slots__ = ("_give_back", "_owner")

    def __init__(self, give_back: Callable[[str], None], owner: str) -> None:
        self._give_back: Callable[[str], None] | None = give_back
        self._owner = owner

    def leave(self) -> None:
        """Give the place back. Doing so twice is doing so once."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back(self._owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()


def _refusal(message: str) -> RateLimited:
    return RateLimited(message, code="too_many_runs", headers={"Retry-After": RETRY_AFTER_SECONDS})
