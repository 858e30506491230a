"""What a server says of its tools, made fit to be offered: strangers write names and descriptions.

Knows the shapes of the protocol as plain JSON, not the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import orjson

from hermes.core.remote_tools import RemoteAnswer, RemoteCall, RemoteTool
from hermes.mcp.naming import tool_names
from hermes.settings.mcp_settings import McpServerSettings

log = logging.getLogger(__name__)

LONGEST_DESCRIPTION = 2_000
LARGEST_SCHEMA = 50_000
MOST_TOOLS = 500

CALLED_DESTRUCTIVE = "may destroy something, as its MCP server says"
ALWAYS_ASKED = "needs approval, as `approval: ask` of its MCP server says"

Call = Callable[[str, RemoteCall], RemoteAnswer]
"""Calls a tool by the name that its server knows."""


def offered(
    settings: McpServerSettings, listed: Iterable[Mapping[str, Any]], call: Call
) -> tuple[RemoteTool, ...]:
    """The tools that the operator lets in and that a model can be told about."""
    wanted = {str(each["name"]): each for each in listed if is_wanted(settings, str(each["name"]))}
    fit = {name: each for name, each in wanted.items() if _fits(settings.name, each)}
    names = tool_names(settings.name, list(fit)[:MOST_TOOLS])
    return tuple(
        _tool(settings, fit[name], own_name, _bound(call, name)) for name, own_name in names.items()
    )


def is_wanted(settings: McpServerSettings, name: str) -> bool:
    is_listed = not settings.tools or any(fnmatchcase(name, each) for each in settings.tools)
    return is_listed and not any(fnmatchcase(name, each) for each in settings.exclude)


def _bound(call: Call, name: str) -> Callable[[RemoteCall], RemoteAnswer]:
    return lambda wish: call(name, wish)


def _tool(
    settings: McpServerSettings,
    said: Mapping[str, Any],
    name: str,
    call: Callable[[RemoteCall], RemoteAnswer],
) -> RemoteTool:
    hints = said.get("annotations") or {}
    is_read_only = hints.get("readOnlyHint") is True
    described = readable(str(said.get("description") or said.get("title") or said["name"]))
    return RemoteTool(
        name=name,
        server=settings.name,
        description=described,
        parameters=_parameters(said),
        is_read_only=is_read_only,
        asks=_asks(settings, hints, is_read_only=is_read_only),
        call=call,
    )


def _asks(settings: McpServerSettings, hints: Mapping[str, Any], *, is_read_only: bool) -> str:
    match settings.approval:
        case "ask":
            return ALWAYS_ASKED
        case "allow":
            return ""
        case "auto":
            is_destructive = hints.get("destructiveHint") is True and not is_read_only
            return CALLED_DESTRUCTIVE if is_destructive else ""


def readable(text: str) -> str:
    """Without control characters, and not longer than a description need be."""
    kept = "".join(each for each in text if each.isprintable() or each in "\n\t").strip()
    short = len(kept) <= LONGEST_DESCRIPTION
    return kept if short else kept[: LONGEST_DESCRIPTION - 1] + "…"


def _parameters(said: Mapping[str, Any]) -> dict[str, Any]:
    """Providers want an object with properties, even where there are none."""
    schema = dict(said.get("inputSchema") or {})
    if not isinstance(schema.get("properties"), Mapping):
        schema["properties"] = {}
    return {**schema, "type": "object"}


def _fits(server: str, said: Mapping[str, Any]) -> bool:
    """A schema that cannot be sent would make every request of every turn fail."""
    try:
        size = len(orjson.dumps(said.get("inputSchema")))
    except (TypeError, orjson.JSONEncodeError):
        size = LARGEST_SCHEMA + 1
    if size > LARGEST_SCHEMA:
        log.warning(
            "an MCP tool is left out: its schema is too large or too deep",
            extra={"server": server, "tool": readable(str(said["name"]))[:100]},
        )
    return size <= LARGEST_SCHEMA
