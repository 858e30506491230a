"""One computation per idempotency key: a repeated request gets the first one's answer."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hermes.core.errors import InvalidRequest

MAX_ENTRIES = 1000
KEEP_SECONDS = 300.0

KEY_HEADER = "Idempotency-Key"
LONGEST_KEY = 255


def idempotency_key(headers: Mapping[str, str]) -> str | None:
    """The key of a request that must not be carried out twice; None for any other."""
    key = headers.get(KEY_HEADER)
    if key is None:
        return None
    key = key.strip(" \t")
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise InvalidRequest(
            f"{KEY_HEADER} must be 1 to {LONGEST_KEY} printable characters.",
            param=KEY_HEADER,
            code="invalid_value",
        )
    return key


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

    def is_taken(self, key: str, fingerprint: str) -> bool:
        """Whether something else is, or lately was, computed under this key."""
        return any(taken == key and other != fingerprint for taken, other in self._entries)

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
