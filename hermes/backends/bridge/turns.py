"""Who may run the CLI now, who waits, and who is sent away. For one event loop at a time.

The lock is the part that embedders see: it is held as long as no further run could begin, and
whoever else holds it keeps every run from beginning. It is looked at and taken, never waited for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes.core.errors import HermesError


class TurnedAway(HermesError):
    """There is no place to run and none to wait."""


@dataclass(slots=True)
class Ticket:
    """A place to run, now or in a while; it must be given back."""

    granted: asyncio.Future[None]
    _end: Callable[[Ticket], None] = field(repr=False)
    is_over: bool = False

    @property
    def is_waiting(self) -> bool:
        return not self.granted.done()

    async def turn(self, seconds: float) -> None:
        """Wait until it is our turn. Raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            await asyncio.shield(self.granted)

    def give_back(self) -> None:
        """More than once is fine, and so is before it was granted."""
        if not self.is_over:
            self.is_over = True
            self._end(self)


class Turns:
    """All runs of a bridge."""

    def __init__(self) -> None:
        self.active = 0
        self._waiting: deque[Ticket] = deque()
        self._capacity = 1
        self._held: asyncio.Lock | None = None

    @property
    def queued(self) -> int:
        return len(self._waiting)

    async def take(self, lock: asyncio.Lock, *, capacity: int, depth: int) -> Ticket:
        """A place, or a place in the queue. Raises `TurnedAway`."""
        if lock.locked() and self._held is not lock:
            raise TurnedAway("the bridge is kept busy by the program it is part of")
        self._capacity = capacity
        ticket = Ticket(asyncio.get_running_loop().create_future(), self._ended)
        if not self._is_full and not self._waiting:
            self._grant(ticket)
        elif len(self._waiting) < depth:
            self._waiting.append(ticket)
        else:
            raise TurnedAway("the bridge is busy with another request")
        await self._show_in(lock, ticket)
        return ticket

    async def _show_in(self, lock: asyncio.Lock, ticket: Ticket) -> None:
        if not self._is_full or self._held is not None:
            return
        try:
            # At once, unless an embedder is just about to take it.
            await lock.acquire()
        except asyncio.CancelledError:
            ticket.give_back()
            raise
        self._held = lock
        self._let_go()

    @property
    def _is_full(self) -> bool:
        return self.active >= self._capacity

    def _let_go(self) -> None:
        if self._held is not None and not self._is_full:
            self._held.release()
            self._held = None

    def _grant(self, ticket: Ticket) -> None:
        self.active += 1
        ticket.granted.set_result(None)

    def _ended(self, ticket: Ticket) -> None:
        if ticket.is_waiting:
            self._waiting.remove(ticket)
            return
        self.active -= 1
        while self._waiting and not self._is_full:
            self._grant(self._waiting.popleft())
        self._let_go()
