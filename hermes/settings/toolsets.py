"""Which toolsets a platform's turns may use, read from a parsed config."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hermes.settings.kinds import TOOLSETS, read_as

BUILTIN_TOOLSETS = frozenset(
    {
        "terminal",
        "files",
        "web",
        "memory",
        "planning",
        "skills",
        "questions",
        "delegation",
        "mcp",
    }
)


def enabled_toolsets(config: Mapping[str, Any], platform: str) -> set[str]:
    """`platforms.<platform>.toolsets`, else `tools.toolsets`, else the built-in ones."""
    for sections in (("platforms", platform), ("tools",)):
        wanted = _toolsets_in(config, sections)
        if wanted is not None:
            key = f"config.yaml: {'.'.join(sections)}.toolsets"
            return set(read_as(TOOLSETS, wanted, key=key))
    return set(BUILTIN_TOOLSETS)


def narrowed(enabled: Collection[str], allowed: Collection[str] | None) -> set[str]:
    """The enabled toolsets as far as they are allowed. `mcp` stands for all of `mcp:<server>`."""
    if allowed is None:
        return set(enabled)
    return {each for each in enabled if _covers(allowed, each)} | {
        each for each in allowed if _covers(enabled, each)
    }


def _covers(toolsets: Collection[str], one: str) -> bool:
    return one in toolsets or one.partition(":")[0] in toolsets


def _toolsets_in(config: Mapping[str, Any], sections: tuple[str, ...]) -> Any:
    found: Any = config
    for name in (*sections, "toolsets"):
        # A plain dictionary, nearly always: asking for a Mapping takes ten times as long.
        is_section = found.__class__ is dict or isinstance(found, Mapping)
        found = found.get(name) if is_section else None
    return found
