"""Examines the MCP servers: is each of them there, and which tools does it offer?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from hermes.contract.equipping_mcp import servers_for
from hermes.core.remote_tools import ServerState, ServerStatus
from hermes.settings.model import Settings
from hermes_cli.doctor_finding import Finding, ok, problem, warning

SECONDS = 10.0


def servers(settings: Settings) -> Iterator[Finding]:
    """Connects to all of them at once; takes `SECONDS`, and as long to hang up, at most."""
    if not settings.mcp.servers:
        return
    with closing(servers_for(settings)) as connected:
        connected.wait(SECONDS)
        found = connected.states()
    yield from map(judged, found)


def judged(state: ServerState) -> Finding:
    title = f"MCP server {state.name}"
    match state.status:
        case ServerStatus.CONNECTED if state.tools == 0:
            return warning(
                title,
                "connected, but offers no tools",
                "check its `tools` and `exclude`",
            )
        case ServerStatus.CONNECTED:
            return ok(title, f"connected; {state.tools} tools")
        case ServerStatus.DISABLED:
            return ok(title, "switched off by `enabled: false`")
        case ServerStatus.UNAVAILABLE:
            return problem(title, "the MCP SDK is missing", "pip install 'hermes-gateway[mcp]'")
        case ServerStatus.UNREACHABLE:
            return problem(title, state.problem, "correct it, or switch it off: `enabled: false`")
        case ServerStatus.CONNECTING:
            return warning(
                title,
                f"has not answered within {SECONDS:g} seconds",
                "it may still come: some download themselves at their first start",
            )
