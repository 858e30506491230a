"""Blocking work in a thread of its own, so that it waits for nobody.

Not in the event loop's pool: whoever fills that with slow work would keep us from ending a process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T], *, name: str) -> asyncio.Future[T]:
    """What comes of `work`. Cancelling the future does not stop the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(how: Callable[[Any], None], what: object) -> None:
        if not future.done():
            how(what)

    def tell_later(how: Callable[[Any], None], what: object) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(tell, how, what)

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  (raised again where the future is awaited)
            tell_later(future.set_exception, error)
        else:
            tell_later(future.set_result, result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
