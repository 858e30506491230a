"""Starts a process the way this house wants it, on any event loop.

Not by the loop itself: uvloop hands every descriptor that it can inherit to the child, and copies
of our pipes besides, so that nobody would notice when the child closes its output.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
from contextlib import suppress
from typing import Any


class Spawned:
    """A process that runs, with as much of asyncio's `Process` as is needed of it."""

    stdout = None

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[int] = self._loop.create_future()
        # A thread that waits is the one way that neither needs a signal nor a recent system.
        name = f"hermes-process-{process.pid}"
        threading.Thread(target=self._watch, name=name, daemon=True).start()

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)

    def _watch(self) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop was closed before the process ended
            self._loop.call_soon_threadsafe(self._tell, code)

    def _tell(self, code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(code)


async def spawn_process(*argv: str, **options: Any) -> Spawned:
    """Called as `asyncio.create_subprocess_exec` is. Raises `OSError` or `ValueError`."""
    # It takes a millisecond or two; asyncio's own way does the same on the loop's thread.
    return Spawned(subprocess.Popen(argv, **options))  # noqa: ASYNC220, S603
