"""Opening a store when it is first needed, doing without when that fails, closing it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any

log = logging.getLogger(__name__)


class Opener:
    """Opens something once. Safe from any thread; a failure is logged and tried again next time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def opened(self, current: Callable[[], Any], open_new: Callable[[], Any]) -> Any:
        """What is there, or a new one, or None when it cannot be opened."""
        with self._lock:
            existing = current()
            if existing is not None:
                return existing
            try:
                return open_new()
            except Exception:  # whatever the store, or an embedder's own, raises
                log.exception("store not available")
                return None


def close_all(*opened: Any) -> None:
    """Close what was opened; a store that was never needed is None."""
    for thing in opened:
        if thing is not None:
            thing.close()


async def close_in_order(*closes: Callable[[], Awaitable[None]]) -> None:
    """Each when the one before it is closed."""
    for close in closes:
        await close()
