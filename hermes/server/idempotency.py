"""One computation per idempotency key: a repeated request gets the first one's answer."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

MAX_ENTRIES = 1000
KEEP_SECONDS = 300.0


class IdempotencyCache:
    """Keeps running and finished computations by key and fingerprint, for a while.

    The same key with another fingerprint is another computation: the fingerprint tells what was
    asked. A failed computation is forgotten, so that the client may try again.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES, keep_seconds: float = KEEP_SECONDS) -> None:
        self._max_entries = max_entries
        self._keep_seconds = keep_seconds
        self._entries: OrderedDict[tuple[str, str], tuple[float, asyncio.Task[Any]]] = OrderedDict()

    async def get_or_set(
        self, key: str, fingerprint: str, compute: Callable[[], Awaitable[Any]]
    ) -> Any:
        """The value of `compute`, run once per key and fingerprint.

        A caller that is cancelled leaves the computation running for the others.
        """
        self._forget_old()
        name = (key, fingerprint)
        if name not in self._entries:
            self._entries[name] = (time.monotonic(), asyncio.create_task(_awaited(compute)))
            self._entries[name][1].add_done_callback(lambda task: self._forget_failed(name, task))
        return await asyncio.shield(self._entries[name][1])

    def _forget_failed(self, name: tuple[str, str], task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._entries.pop(name, None)

    def _forget_old(self) -> None:
        oldest_kept = time.monotonic() - self._keep_seconds
        for name, (made, task) in list(self._entries.items()):
            is_too_many = len(self._entries) >= self._max_entries
            if made >= oldest_kept and not is_too_many:
                return
            if task.done():
                del self._entries[name]


async def _awaited(compute: Callable[[], Awaitable[Any]]) -> Any:
    return await compute()
