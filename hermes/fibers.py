"""Lets blocking code stand on the event loop: where it would block, it steps aside.

An agent is plain synchronous code, easy to read and to test. A thread per turn would carry it,
but every switch between that thread and the loop costs as much as a good part of a request. In a
fiber the same code runs on the loop's own thread; waiting for the network suspends it, and what
really blocks (a tool, a store) is handed to a thread. Outside a fiber everything here just blocks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from greenlet import getcurrent, greenlet

T = TypeVar("T")

OffLoop = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs blocking work in a thread."""

Again = Callable[[], Awaitable[T]]
"""Gives something to wait for; asked again when waiting for the last one was cut short."""


class Fiber(greenlet):
    """One piece of synchronous code that runs on the event loop."""

    def __init__(self, work: Callable[[], Any], off_loop: OffLoop) -> None:
        super().__init__(work)
        self.off_loop = off_loop


async def run_in_fiber(
    work: Callable[[], T], off_loop: OffLoop, on_cancel: Callable[[], None]
) -> T:
    """Run `work` on this loop's thread; it must block through the functions below only.

    Cancelling this coroutine calls `on_cancel` and lets `work` come to its end in order: nothing
    is torn out of its hands. Only then is `CancelledError` raised.
    """
    fiber = Fiber(work, off_loop)
    is_cancelled = False
    waits_for = fiber.switch()
    while not fiber.dead:
        try:
            value = await waits_for()
        except asyncio.CancelledError:
            is_cancelled = True
            on_cancel()
        except BaseException as error:  # noqa: BLE001  (raised again where the fiber waits)
            waits_for = fiber.throw(error)
        else:
            waits_for = fiber.switch(value)
    if is_cancelled:
        raise asyncio.CancelledError
    return cast(T, waits_for)


def is_in_fiber() -> bool:
    return isinstance(getcurrent(), Fiber)


def wait_in_fiber(again: Again[T]) -> T:
    """What the awaitable comes to; the loop goes on meanwhile. Only inside a fiber."""
    return cast(T, _current().parent.switch(again))


def blocking(work: Callable[[], T]) -> T:
    """Do work that may block: in a thread if we are on the event loop in a fiber, else here."""
    if not is_in_fiber():
        return work()
    done = asyncio.get_running_loop().create_task(_awaited(_current().off_loop(work)))
    return cast(T, wait_in_fiber(lambda: asyncio.shield(done)))


def blocking_all(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do several works that may block beside each other, each in a thread; all are done then.

    The first error is raised again when all have come to their end.
    """
    if not is_in_fiber():
        with ThreadPoolExecutor(len(works)) as threads:
            return [future.result() for future in [threads.submit(work) for work in works]]
    off_loop = _current().off_loop
    done = asyncio.gather(*(off_loop(work) for work in works), return_exceptions=True)
    results = wait_in_fiber(lambda: asyncio.shield(done))
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast(list[T], results)


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _current() -> Any:
    return getcurrent()
