"""The agents' own threads: an agent is synchronous, so each running turn has one.

Never the event loop's default executor: that has a handful of threads, and a turn that waits
there would keep name look-ups and file reads of everybody else waiting too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """A named pool whose threads start on demand and are reused. Safe to make without a loop."""

    def __init__(self, name: str, limit: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=limit, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Run blocking work off the loop. Cancelling the caller does not stop the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Let running work finish in the background and accept no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
