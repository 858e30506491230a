"""The MCP servers of a process: made from its settings at their first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from hermes.core.remote_tools import RemoteTool, ServerState
from hermes.mcp.servers import McpServers
from hermes.settings.model import Settings
from hermes.tools.environment import child_environment


class McpShelf:
    """Safe to use from any thread. Servers are those of the settings at the first use."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._made: McpServers | None = None

    def tools(self) -> tuple[RemoteTool, ...]:
        return self._servers().tools()

    def states(self) -> tuple[ServerState, ...]:
        return self._servers().states()

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._servers().start()

    def wait(self, seconds: float) -> None:
        """Until every server has answered or failed once; blocks for so long at most."""
        self._servers().wait(seconds)

    def close(self) -> None:
        with self._lock:
            servers = self._made
        if servers is not None:
            servers.close()

    def _servers(self) -> McpServers:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = servers_for(self._settings())
        return self._made


def servers_for(settings: Settings) -> McpServers:
    """What a server's process sees is what a command does, but for the real home folder: that is
    where package runners keep what they have downloaded, and servers what they were told."""
    return McpServers(
        settings.mcp,
        environment=child_environment(os.environ, home=Path.home()),
        folder=settings.agent.workspace,
    )
