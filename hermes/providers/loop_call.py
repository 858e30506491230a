"""Runs one coroutine on the event loop for synchronous code that waits for it; can be cancelled.

The one who waits is a thread, or a fiber on that very loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Generic, TypeVar

from hermes.core.errors import Interrupted
from hermes.fibers import is_in_fiber, wait_in_fiber

Result = TypeVar("Result")


class LoopCall(Generic[Result]):
    """One call, waited for once. Costs a thread two switches, however long the coroutine runs."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Callable[[], Coroutine[Any, Any, Result]],
        *,
        running: set[asyncio.Task[Any]],
    ) -> None:
        self._loop = loop
        self._work = work
        self._running = running
        self._task: asyncio.Task[Result] | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._on_finish: Callable[[], None] = _nothing
        self._is_finished = False
        self._is_cancelled = False

    def wait(self) -> Result:
        """Block the caller until the coroutine is over. Interrupted when cancelled."""
        if is_in_fiber():
            self._wait_in_fiber()
        else:
            self._wait_in_thread()
        if self._error is not None:
            raise self._error
        result: Result = self._result
        return result

    def _wait_in_fiber(self) -> None:
        self._start()
        wait_in_fiber(self._finish_line)

    def _finish_line(self) -> asyncio.Future[None]:
        """Done when the call is; each who waits gets one of his own."""
        over = self._loop.create_future()
        self._on_finish = partial(_reach, over)
        if self._is_finished:
            self._on_finish()
        return over

    def _wait_in_thread(self) -> None:
        self._refuse_own_loop()
        # Held until the outcome is there. A lock is all that one waiter needs.
        over = threading.Lock()
        over.acquire()
        self._on_finish = over.release
        try:
            self._loop.call_soon_threadsafe(self._start)
        except RuntimeError as error:
            raise Interrupted("The event loop for model calls is closed.") from error
        try:
            over.acquire()
        except BaseException:
            # This very thread is interrupted (Ctrl-C): nothing may run on unwatched.
            self.cancel()
            raise

    def cancel(self) -> None:
        """End the call. From any thread, at any time; a call not yet started will not start."""
        self._is_cancelled = True
        # A closed loop has nothing left to cancel.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel_task)

    def _refuse_own_loop(self) -> None:
        try:
            own = asyncio.get_running_loop()
        except RuntimeError:
            return
        if own is self._loop:
            raise RuntimeError("A model call would block the very loop that has to carry it out.")

    def _start(self) -> None:
        if self._is_cancelled:
            self._finish(None, _interrupted())
            return
        self._task = self._loop.create_task(self._work())
        self._running.add(self._task)
        self._task.add_done_callback(self._settle)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[Result]) -> None:
        self._running.discard(task)
        if task.cancelled():
            self._finish(None, _interrupted())
            return
        error = task.exception()
        self._finish(None if error else task.result(), error)

    def _finish(self, result: Result | None, error: BaseException | None) -> None:
        self._result = result
        self._error = error
        self._is_finished = True
        self._on_finish()


def _reach(over: asyncio.Future[None]) -> None:
    if not over.done():  # whoever waited for it may have been cancelled
        over.set_result(None)


def _nothing() -> None:
    return


def _interrupted() -> Interrupted:
    return Interrupted("The model call was stopped.")
