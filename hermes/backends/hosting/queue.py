"""Who runs now and who waits: first come, first served, among those who could run.

An agent that is at its own limit holds up nobody else. For one event loop.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hermes.backends.errors import QueueFull, QueueTimeout

SHORTEST_RETRY, LONGEST_RETRY = 1, 60
_REMEMBERED = 32  # durations, for a guess at how long the next one takes

OnWait = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How many jobs there may be."""

    max_running: int
    """Of all agents together."""
    max_queued: int
    queue_seconds: float
    """How long one may wait."""
    max_running_of: Mapping[str, int] = field(default_factory=dict)
    """Of single agents; who is not named has only the limit of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many jobs there are."""

    running: int
    queued: int
    max_running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStates:
    """What there is to know about a queue."""

    together: Load
    agents: Mapping[str, Load]
    """Of each that has a limit of its own or a job."""


class JobQueue:
    """`async with queue.place("claude"): …`; the place is free again when the block has ended."""

    def __init__(self, limits: QueueLimits, *, now: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._now = now
        self._running: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self._durations: deque[float] = deque(maxlen=_REMEMBERED)

    @asynccontextmanager
    async def place(self, agent: str, *, on_wait: OnWait | None = None) -> AsyncIterator[None]:
        """Raises `QueueFull` at once, or `QueueTimeout` after a while.

        `on_wait` is told the place in the queue, counted from one, and again when it changes.
        """
        await self._enter(agent, on_wait or (lambda _place: None))
        began = self._now()
        try:
            yield
        finally:
            self._durations.append(self._now() - began)
            self._leave(agent)

    def states(self) -> QueueStates:
        queued = Counter(waiter.agent for waiter in self._waiting)
        names = {*self._limits.max_running_of, *self._running, *queued}
        return QueueStates(
            together=Load(
                running=self._running.total(),
                queued=len(self._waiting),
                max_running=self._limits.max_running,
            ),
            agents={
                name: Load(
                    running=self._running[name],
                    queued=queued[name],
                    max_running=self._limit_of(name),
                )
                for name in sorted(names)
            },
        )

    # --- coming and going ---------------------------------------------------------------------

    async def _enter(self, agent: str, on_wait: OnWait) -> None:
        # Nobody who waits could run: he would have been let in. So nobody is passed by here.
        if self._has_room(agent):
            self._running[agent] += 1
            return
        if len(self._waiting) >= self._limits.max_queued:
            raise QueueFull(
                "too many jobs are waiting already; try again later",
                retry_after=self._retry_after(),
            )
        await self._wait(_Waiter(agent), on_wait)

    async def _wait(self, waiter: _Waiter, on_wait: OnWait) -> None:
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(self._limits.queue_seconds):
                await self._until_admitted(waiter, on_wait)
        except TimeoutError:
            if waiter.is_admitted:
                return  # at the last moment
            self._withdraw(waiter)
            raise QueueTimeout(
                f"no place was free within {self._limits.queue_seconds:g} s; try again later",
                retry_after=self._retry_after(),
            ) from None
        except BaseException:
            self._withdraw(waiter)
            raise

    def _withdraw(self, waiter: _Waiter) -> None:
        """He goes, whether he was let in meanwhile or not."""
        if waiter.is_admitted:
            self._leave(waiter.agent)
        else:
            self._waiting.remove(waiter)
            self._tell_places()

    async def _until_admitted(self, waiter: _Waiter, on_wait: OnWait) -> None:
        told = 0
        while not waiter.is_admitted:
            waiter.has_news.clear()
            place = self._waiting.index(waiter) + 1
            if place != told:
                told = place
                on_wait(place)
            await waiter.has_news.wait()

    def _leave(self, agent: str) -> None:
        self._running[agent] -= 1
        if not self._running[agent]:
            del self._running[agent]
        self._admit()

    def _admit(self) -> None:
        """Let in whoever can run now; a place counts as taken from here on."""
        for waiter in tuple(self._waiting):
            if self._has_room(waiter.agent):
                self._waiting.remove(waiter)
                self._running[waiter.agent] += 1
                waiter.is_admitted = True
                waiter.has_news.set()
        self._tell_places()

    def _tell_places(self) -> None:
        for waiter in self._waiting:
            waiter.has_news.set()

    def _has_room(self, agent: str) -> bool:
        is_free = self._running.total() < self._limits.max_running
        return is_free and self._running[agent] < self._limit_of(agent)

    def _limit_of(self, agent: str) -> int:
        return self._limits.max_running_of.get(agent, self._limits.max_running)

    def _retry_after(self) -> int:
        """When the queue may have moved on far enough, by how long jobs have taken lately."""
        if not self._durations:
            return SHORTEST_RETRY
        typical = sum(self._durations) / len(self._durations)
        rounds = (len(self._waiting) + 1) / max(1, self._limits.max_running)
        return max(SHORTEST_RETRY, min(LONGEST_RETRY, math.ceil(typical * rounds)))


class _Waiter:
    """Somebody in the queue. What is told to him is told in his own task."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.is_admitted = False
        self.has_news = asyncio.Event()
