"""All MCP servers of a process, on an event loop in a thread of its own.

Nothing here waits for a server unless it says so: tools appear when their server has answered.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from types import ModuleType

from hermes.core.remote_tools import (
    RemoteAnswer,
    RemoteCall,
    RemoteTool,
    ServerState,
    ServerStatus,
)
from hermes.mcp.link import ServerLink, Wiring
from hermes.mcp.sdk import MISSING, is_installed, load
from hermes.settings.mcp_settings import McpServerSettings, McpSettings

log = logging.getLogger(__name__)

FIRST_PAUSE = 1.0
_TICK = 0.05  # how late an interrupted turn is noticed, in seconds
_CLOSE_SECONDS = 10.0

_INTERRUPTED = RemoteAnswer(
    text="Interrupted: the turn was stopped before the MCP server answered.", is_problem=True
)
_CLOSED = RemoteAnswer(text="Not done: the gateway is shutting down.", is_problem=True)


class McpServers:
    """Safe to use from any thread. Whoever made it calls `close`."""

    def __init__(
        self,
        settings: McpSettings,
        *,
        environment: Mapping[str, str],
        folder: Path,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        """`environment` is what every server's process may see, beside its own `env`."""
        self._settings = [server for server in settings.servers if server.enabled]
        self._disabled = [server for server in settings.servers if not server.enabled]
        self._environment = dict(environment)
        self._folder = folder
        self._first_pause = first_pause
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._links: tuple[ServerLink, ...] = ()
        self._tools: tuple[RemoteTool, ...] = ()
        self._tried = threading.Event()
        self._is_closed = False

    def start(self) -> None:
        """Begin to connect; returns at once, and does nothing the second time."""
        with self._lock:
            if self._thread is not None or self._is_closed or not self._settings:
                return
            if not is_installed():
                log.warning("MCP servers are not used: %s", MISSING)
                self._is_closed = True
                return
            self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
            self._thread.start()

    def tools(self) -> tuple[RemoteTool, ...]:
        """What is offered now; begins to connect where nobody has."""
        if self._settings and self._thread is None:
            self.start()
        return self._tools

    def states(self) -> tuple[ServerState, ...]:
        links = {link.settings.name: link.state for link in self._links}
        known = [links.get(server.name) or self._not_begun(server) for server in self._settings]
        off = [
            ServerState(name=server.name, status=ServerStatus.DISABLED) for server in self._disabled
        ]
        return (*known, *off)

    def wait(self, seconds: float) -> None:
        """Until every server has answered or failed once; blocks for so long at most."""
        self.start()
        if self._thread is not None:
            self._tried.wait(seconds)

    def close(self) -> None:
        """Hang up and end the processes; blocks until they are gone. May be called twice."""
        with self._lock:
            self._is_closed = True
            thread, loop = self._thread, self._loop
        if thread is None:
            return
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._end.set)
        thread.join(_CLOSE_SECONDS)

    # --- on the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._keep_all())

    async def _keep_all(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._loop = asyncio.get_running_loop()
        # The SDK takes a while to import; requests are answered meanwhile.
        sdk = load("hermes.mcp.connection")
        self._links = tuple(
            ServerLink(server, self._wiring(sdk, server)) for server in self._settings
        )
        tasks = [asyncio.create_task(link.keep()) for link in self._links]
        tasks.append(asyncio.create_task(self._tell_when_tried()))
        await self._end.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell_when_tried(self) -> None:
        for link in self._links:
            await link.tried.wait()
        self._tried.set()

    def _wiring(self, sdk: ModuleType, server: McpServerSettings) -> Wiring:
        return Wiring(
            connect=sdk.connected,
            occasion=sdk.Occasion,
            environment={**self._environment, **server.env},
            folder=self._folder,
            call=self._call,
            on_change=self._gather_tools,
            first_pause=self._first_pause,
        )

    def _gather_tools(self) -> None:
        tools = tuple(tool for link in self._links for tool in link.tools)
        if tools != self._tools:
            self._tools = tools

    # --- on the threads of tools --------------------------------------------------------------

    def _call(self, link: ServerLink, name: str, wish: RemoteCall) -> RemoteAnswer:
        loop = self._loop
        if loop is None or self._is_closed:
            return _CLOSED
        asked = asyncio.run_coroutine_threadsafe(link.answer(name, wish), loop)
        while True:
            try:
                return asked.result(_TICK)
            except TimeoutError:
                if wish.is_stopped():
                    asked.cancel()
                    return _INTERRUPTED
                if loop.is_closed():
                    return _CLOSED
            except CancelledError:
                return _CLOSED

    def _not_begun(self, server: McpServerSettings) -> ServerState:
        if not is_installed():
            return ServerState(name=server.name, status=ServerStatus.UNAVAILABLE, problem=MISSING)
        return ServerState(name=server.name, status=ServerStatus.CONNECTING)
