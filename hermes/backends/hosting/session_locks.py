"""One job at a time for what a CLI remembers: two that go on from one point would lose a branch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager


class SessionLocks:
    """Used on one event loop; first come, first served."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._waiting: dict[Hashable, int] = {}

    @asynccontextmanager
    async def held(self, key: Hashable | None, on_wait: Callable[[], None]) -> AsyncIterator[None]:
        """Nobody else holds `key` inside the block. `on_wait` is called if somebody does now."""
        if key is None:
            yield
            return
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            if lock.locked():
                on_wait()
            async with lock:
                yield
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._locks[key]
