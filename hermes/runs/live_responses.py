"""Stored responses that are being made now: their events on the way, and how to stop them.

Events go to whoever follows, and in batches into the store. Nothing is held here that is in the
store: a follower reads there what went before. Used on the event loop only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import Enum
from typing import Any

from hermes.core.ports import EventLogs
from hermes.wire.sse import KEEPALIVE

log = logging.getLogger(__name__)

BATCH_BYTES = 64 * 1024
BATCH_SECONDS = 0.5


class Fate(Enum):
    """What somebody decided about a response before it was finished."""

    UNDECIDED = "undecided"
    CANCELLED = "cancelled"
    DELETED = "deleted"


class Follower:
    """Receives the events of one response from the moment it began to follow."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, frames: bytes | None) -> None:
        self._frames.put_nowait(frames)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (frames := await self._frames.get()) is not None:
            yield frames


class LiveResponse:
    """One response at work, from its first event to its last."""

    def __init__(
        self,
        response_id: str,
        *,
        logs: Callable[[], EventLogs],
        stop: Callable[[str], Awaitable[None]],
        snapshot: Callable[[], dict[str, Any]],
        is_background: bool = False,
    ) -> None:
        self.id = response_id
        self.snapshot = snapshot
        """How far the response has come. Its end is told by the store, once it is safe there."""
        self.is_background = is_background
        self.fate = Fate.UNDECIDED
        self._logs = logs
        self._stop = stop
        self._followers: list[Follower] = []
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_stored = False
        self._timer: asyncio.TimerHandle | None = None
        self._ended = asyncio.Event()

    def begin_storing(self) -> None:
        """The response itself is stored: from now on its events may be, too."""
        self._is_stored = True

    def add(self, frames: bytes) -> None:
        """Pass whole frames on. Never waits."""
        for follower in self._followers:
            follower.put(frames)
        if frames and frames != KEEPALIVE:
            self._waiting.append(frames)
            self._size += len(frames)
            self._plan()

    def follow(self) -> Follower:
        """What was added before is in the store, on its way there, or comes first."""
        self.flush()
        follower = Follower()
        if self._waiting:
            follower.put(b"".join(self._waiting))
        if self._ended.is_set():
            follower.put(None)
        else:
            self._followers.append(follower)
        return follower

    def leave(self, follower: Follower) -> None:
        if follower in self._followers:
            self._followers.remove(follower)

    def flush(self) -> None:
        """Hand everything that waits to the store."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._is_stored or not self._waiting:
            return
        frames, self._waiting, self._size = b"".join(self._waiting), [], 0
        try:
            self._logs().append(self.id, frames)
        except Exception:  # an embedder's store may raise anything; the stream goes on
            log.exception("events not stored", extra={"response_id": self.id})

    def end(self) -> None:
        """Nothing follows. Followers are told, and whoever waits for the end goes on."""
        if self.fate is Fate.DELETED:
            self._waiting.clear()
        self.flush()
        self._ended.set()
        for follower in self._followers:
            follower.put(None)
        self._followers.clear()

    async def ended(self) -> None:
        await self._ended.wait()

    async def stop(self, fate: Fate, reason: str) -> None:
        """Decide the response's fate and stop its turn; `ended` tells when that has happened."""
        self.fate = fate
        await self._stop(reason)

    def _plan(self) -> None:
        if self._size >= BATCH_BYTES:
            self.flush()
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(BATCH_SECONDS, self.flush)


class LiveResponses:
    """Every stored response that this server is making now, by its id."""

    def __init__(self) -> None:
        self._live: dict[str, LiveResponse] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, response_id: str) -> LiveResponse | None:
        return self._live.get(response_id)

    def open(self, live: LiveResponse) -> None:
        self._live[live.id] = live

    def close(self, live: LiveResponse) -> None:
        live.end()
        if self._live.get(live.id) is live:
            del self._live[live.id]

    def run(self, live: LiveResponse, work: Awaitable[None]) -> None:
        """Make a response in the background, whoever asked for it stays or not."""

        async def task() -> None:
            try:
                await work
            finally:
                self.close(live)

        self.open(live)
        running = asyncio.get_running_loop().create_task(task())
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)

    async def finish(self, within: float = 5.0) -> None:
        """Wait for what runs in the background, and cancel what does not end in time."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=within)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
