"""Starts a process the way this house wants it, on any event loop.

Not by the loop itself: uvloop hands every descriptor that it can inherit to the child, and copies
of our pipes besides, so that nobody would notice when the child closes its output.
"""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

from hermes.backends.running.threads import in_thread


class Spawned:
    """A process that runs, with as much of asyncio's `Process` as is needed of it."""

    stdout = None

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        # A thread that waits is the one way that neither needs a signal nor a recent system.
        self._exit = in_thread(process.wait, name=f"hermes-process-{process.pid}")

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)


async def spawn_process(*argv: str, **options: Any) -> Spawned:
    """Called as `asyncio.create_subprocess_exec` is. Raises `OSError` or `ValueError`."""
    # It takes a millisecond or two; asyncio's own way does the same on the loop's thread.
    return Spawned(subprocess.Popen(argv, **options))  # noqa: ASYNC220, S603
