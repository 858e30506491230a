"""The sessions of MCP clients: opened with the first request, ended with the gateway.

Knows how long things live, not what is said in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hermes.server.asgi_bridge import AsgiApp
from hermes.server.auth import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What the SDK answers with."""

    manager: Any
    """Keeps the sessions for as long as its `run()` is entered."""
    app: AsgiApp
    scope_of: Callable[[Caller], dict[str, Any]]
    """What a request says about who sent it."""


class McpEndpoint:
    """Used on one event loop."""

    def __init__(self) -> None:
        self._opening: asyncio.Task[Protocol] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def opened(self, load: Callable[[], Awaitable[Protocol]]) -> Protocol:
        """Loaded once, whoever else asks meanwhile."""
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open(load))
        return await asyncio.shield(self._opening)

    async def _open(self, load: Callable[[], Awaitable[Protocol]]) -> Protocol:
        protocol = await load()
        is_ready = asyncio.Event()
        self._keeper = asyncio.get_running_loop().create_task(_keep(protocol.manager, is_ready))
        await is_ready.wait()
        return protocol

    async def close(self) -> None:
        """End all sessions, and with them the streams that are open."""
        for task in (self._opening, self._keeper):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _keep(manager: Any, is_ready: asyncio.Event) -> None:
    """In a task of its own: what the SDK enters must be left by whoever entered it."""
    async with manager.run():
        is_ready.set()
        await asyncio.Event().wait()
