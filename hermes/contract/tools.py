"""The toolsets as `/v1/toolsets` lists them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hermes.tools.base import Tool
from hermes.tools.toolbox import Toolbox


def toolset_list(toolbox: Toolbox, enabled: Collection[str]) -> list[dict[str, Any]]:
    """Also the tools that cannot be used here, with what is missing."""
    registry = toolbox.whole()
    chosen = registry.select(enabled).toolsets()
    return [
        {
            "id": name,
            "object": "toolset",
            "enabled": name in chosen,
            "tools": [_described(tool, toolbox) for tool in registry.tools() if tool.name in names],
        }
        for name, names in registry.toolsets().items()
    ]


def _described(tool: Tool, toolbox: Toolbox) -> dict[str, Any]:
    missing = tool.missing(toolbox.services)
    described = {"name": tool.name, "description": tool.description, "available": missing is None}
    return described if missing is None else {**described, "missing": missing}
