"""The toolsets as `/v1/toolsets` lists them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hermes.tools.registry import Registry


def toolset_list(registry: Registry, enabled: Collection[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "object": "toolset",
            "enabled": name in enabled,
            "tools": [_described(registry, tool) for tool in tools],
        }
        for name, tools in registry.toolsets().items()
    ]


def _described(registry: Registry, name: str) -> dict[str, str]:
    tool = registry.get(name)
    assert tool is not None, "a toolset lists only tools of its registry"
    return {"name": name, "description": tool.description}
