"""Lets blocking code stand on the event loop: where it would block, it steps aside.

An agent is plain synchronous code, easy to read and to test. A thread per turn would carry it,
but every switch between that thread and the loop costs as much as a good part of a request. In a
fiber the same code runs on the loop's own thread; waiting for the network suspends it, and what
really blocks (a tool, a store) is handed to a thread. Outside a fiber everything here just blocks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from greenlet import getcurrent, greenlet

T = TypeVar("T")

OffLoop = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs blocking work in a thread."""


class Fiber(greenlet):
    """One piece of synchronous code that runs on the event loop."""

    def __init__(self, work: Callable[[], Any], off_loop: OffLoop) -> None:
        super().__init__(work)
        self.off_loop = off_loop


async def run_in_fiber(work: Callable[[], T], off_loop: OffLoop) -> T:
    """Run `work` on this loop's thread; it must block through the functions below only.

    Cancelling this coroutine raises `CancelledError` inside `work`, where it waits.
    """
    fiber = Fiber(work, off_loop)
    awaited = fiber.switch()
    while not fiber.dead:
        try:
            value = await awaited
        except BaseException as error:  # noqa: BLE001  (raised again where the fiber waits)
            awaited = fiber.throw(error)
        else:
            awaited = fiber.switch(value)
    return cast(T, awaited)


def is_in_fiber() -> bool:
    return isinstance(getcurrent(), Fiber)


def wait_in_fiber(awaitable: Awaitable[T]) -> T:
    """What `awaitable` comes to; the loop goes on meanwhile. Only inside a fiber."""
    return cast(T, _current().parent.switch(awaitable))


def blocking(work: Callable[[], T]) -> T:
    """Do work that may block: in a thread if we are on the event loop in a fiber, else here."""
    return wait_in_fiber(_current().off_loop(work)) if is_in_fiber() else work()


def _current() -> Any:
    return getcurrent()
