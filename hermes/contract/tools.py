"""The toolsets as `/v1/toolsets` lists them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from hermes.core.remote_tools import ServerState
from hermes.tools.base import Tool
from hermes.tools.remote import FAMILY, toolset_of
from hermes.tools.toolbox import Toolbox


def toolset_list(
    toolbox: Toolbox, enabled: Collection[str], servers: Iterable[ServerState] = ()
) -> list[dict[str, Any]]:
    """Also the tools that cannot be used here, with what is missing, and servers without any."""
    registry = toolbox.whole()
    chosen = registry.select(enabled).toolsets()
    listed = [
        {
            "id": name,
            "object": "toolset",
            "enabled": name in chosen,
            "tools": [_described(tool, toolbox) for tool in registry.tools() if tool.name in names],
        }
        for name, names in registry.toolsets().items()
    ]
    return _with_servers(listed, enabled, servers)


def _with_servers(
    listed: list[dict[str, Any]], enabled: Collection[str], servers: Iterable[ServerState]
) -> list[dict[str, Any]]:
    states = {toolset_of(server.name): server for server in servers}
    own = [each for each in listed if each["id"] not in states]
    by_name = {each["id"]: each for each in listed}
    return own + [
        {
            "id": name,
            "object": "toolset",
            "enabled": name in enabled or FAMILY in enabled,
            "status": state.status.value,
            **({"problem": state.problem} if state.problem else {}),
            "tools": by_name.get(name, {}).get("tools", []),
        }
        for name, state in states.items()
    ]


def _described(tool: Tool, toolbox: Toolbox) -> dict[str, Any]:
    missing = tool.missing(toolbox.services)
    described = {"name": tool.name, "description": tool.description, "available": missing is None}
    return described if missing is None else {**described, "missing": missing}
