"""What an embedder may give instead of a process: lines to go through and an exit code.

It has no number, no pipes and no end of file; nothing else of it is ever touched.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any


class NoInput:
    """Nobody reads."""

    def write(self, data: bytes) -> None: ...

    def finish(self) -> None: ...


class StandIn:
    """A `Child` without a process."""

    def __init__(self, process: Any) -> None:
        self.input = NoInput()
        loop = asyncio.get_running_loop()
        self.mute: asyncio.Future[None] = loop.create_future()
        self.exit: asyncio.Future[int | None] = loop.create_task(self._play(process))
        self._listener: asyncio.Future[Callable[[bytes], None]] = loop.create_future()
        self._said_wrong = ""

    def listen(self, take: Callable[[bytes], None]) -> None:
        self._listener.set_result(take)

    async def _play(self, process: Any) -> int | None:
        take = await self._listener
        async for line in process.stdout:
            take(line)
        # Once: it may have the same to say again, for ever.
        self._said_wrong = (await process.stderr.read()).decode(errors="replace")
        await process.wait()
        code = process.returncode
        return code if isinstance(code, int) else None

    def signal(self, number: signal.Signals) -> None:
        self.exit.cancel()

    async def look_around(self) -> None: ...

    async def clear(self) -> None: ...

    def kill(self) -> None:
        self.exit.cancel()

    def errors(self) -> str:
        return self._said_wrong
