"""MCP servers for tests, and how to talk to them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes.core.remote_tools import RemoteAnswer, RemoteCall, ServerState
from hermes.mcp.servers import McpServers
from hermes.settings.mcp_settings import McpServerSettings, McpSettings

HERE = Path(__file__).parent


def plain(name: str, *manners: str, **more: Any) -> McpServerSettings:
    """The small server of the tests."""
    args = ("-S", str(HERE / "plain_server.py"), *manners)
    return McpServerSettings(name=name, command=sys.executable, args=args, **more)


def real(name: str, **more: Any) -> McpServerSettings:
    """One that is made with the official SDK."""
    args = (str(HERE / "real_server.py"), "stdio")
    return McpServerSettings(name=name, command=sys.executable, args=args, **more)


@contextmanager
def connected(*settings: McpServerSettings, **more: Any) -> Iterator[McpServers]:
    """Each of them was tried once."""
    more = {"environment": {}, "folder": HERE, "first_pause": 0.05, **more}
    servers = McpServers(McpSettings(servers=settings), **more)
    try:
        servers.wait(20)
        yield servers
    finally:
        servers.close()


def state(servers: McpServers, name: str) -> ServerState:
    return next(each for each in servers.states() if each.name == name)


def call(
    servers: McpServers,
    tool: str,
    *,
    stop: threading.Event | None = None,
    report: Callable[[str], None] = lambda _line: None,
    **arguments: Any,
) -> RemoteAnswer:
    found = next(each for each in servers.tools() if each.name == tool)
    is_stopped = (stop or threading.Event()).is_set
    return found.call(RemoteCall(arguments=arguments, is_stopped=is_stopped, report=report))


def until(is_so: Callable[[], bool], within: float = 10.0) -> None:
    """Wait for something that has no event of its own to wait for."""
    deadline = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process is there; one that has ended and waits to be noticed is not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
