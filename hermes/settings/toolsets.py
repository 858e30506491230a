"""Which toolsets a platform's turns may use, read from a parsed config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.settings.kinds import TOOLSETS, read_as

BUILTIN_TOOLSETS = frozenset({"terminal", "files", "questions", "delegation", "mcp"})


def enabled_toolsets(config: Mapping[str, Any], platform: str) -> set[str]:
    """`platforms.<platform>.toolsets`, else `tools.toolsets`, else the built-in ones."""
    for sections in (("platforms", platform), ("tools",)):
        wanted = _toolsets_in(config, sections)
        if wanted is not None:
            key = f"config.yaml: {'.'.join(sections)}.toolsets"
            return set(read_as(TOOLSETS, wanted, key=key))
    return set(BUILTIN_TOOLSETS)


def _toolsets_in(config: Mapping[str, Any], sections: tuple[str, ...]) -> Any:
    found: Any = config
    for name in (*sections, "toolsets"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
