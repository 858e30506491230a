"""The items of a Codex thread: which are tool calls, and what is shown of them. Pure.

`app-server` and `exec --json` tell the same items, once in camel case and once with underscores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hermes.backends.drivers.foreign_json import Json, items, text
from hermes.backends.saying import ToolAnswered, ToolCalled

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")

TOOLS = frozenset(
    {
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "dynamic_tool_call",
        "collab_agent_tool_call",
        "collab_tool_call",
        "web_search",
        "image_view",
        "image_generation",
    }
)
"""The kinds of items that are calls of Codex's own tools."""

_BOOKKEEPING = ("id", "type", "status", "startedAtMs", "completedAtMs", "durationMs", "result")


def kind_of(item: Json) -> str:
    """`commandExecution` and `command_execution` are both `command_execution`."""
    return _CAPITAL.sub("_", text(item, "type")).lower()


def without_home(item: Json, workspace: str) -> Json:
    """Without its folder where that is the job's own: it says nothing, and when the same call is
    made again by another job it is another one. Files are named by their place in it."""
    told = {name: value for name, value in item.items() if (name, value) != ("cwd", workspace)}
    if "changes" in told:
        within = f"{workspace}/"
        told["changes"] = [
            {**change, "path": text(change, "path").removeprefix(within)}
            for change in items(item, "changes")
        ]
    return told


def is_tool(item: Json) -> bool:
    return kind_of(item) in TOOLS


def called(item: Json) -> ToolCalled:
    return ToolCalled(text(item, "id"), name_of(item), arguments_of(item))


def answered(item: Json) -> ToolAnswered:
    is_error = text(item, "status") in ("failed", "declined")
    return ToolAnswered(text(item, "id"), name_of(item), _output(item), is_error)


def name_of(item: Json) -> str:
    if kind_of(item) == "mcp_tool_call":
        return f"{text(item, 'server')}.{text(item, 'tool')}"
    return kind_of(item)


def arguments_of(item: Json) -> Mapping[str, Any]:
    match kind_of(item):
        case "command_execution":
            return {name: item[name] for name in ("command", "cwd") if item.get(name)}
        case "file_change":
            return {"changes": [_change(change) for change in items(item, "changes")]}
        case "mcp_tool_call":
            return _mapping(item.get("arguments"))
        case "web_search":
            return {"query": text(item, "query")}
        case _:
            known = {name: value for name, value in item.items() if name not in _BOOKKEEPING}
            return {name: value for name, value in known.items() if value is not None}


def shown(item: Json) -> str:
    """Exactly what the call does: the command, or every path with what becomes of it."""
    if kind_of(item) == "file_change":
        return "\n".join(_shown_change(change) for change in items(item, "changes"))
    return text(item, "command")


def _change(change: Json) -> dict[str, str]:
    named = {"path": text(change, "path"), "kind": _change_kind(change)}
    return {**named, "diff": diff} if (diff := text(change, "diff")) else named


def _change_kind(change: Json) -> str:
    return text(change, "kind", "type") or text(change, "kind")


def _shown_change(change: Json) -> str:
    head = f"{_change_kind(change)} {text(change, 'path')}"
    return f"{head}\n{diff}" if (diff := text(change, "diff")) else head


def _output(item: Json) -> str:
    match kind_of(item):
        case "command_execution":
            output = text(item, "aggregatedOutput") or text(item, "aggregated_output")
            return output or _declined(item)
        case "mcp_tool_call":
            said = (text(part, "text") for part in items(item, "result", "content"))
            return text(item, "error", "message") or "\n".join(said)
        case "image_generation" | "image_view":
            return ""  # the picture itself is not for the log
        case _:
            result = item.get("result")
            return _declined(item) if result is None else json.dumps(result)


def _declined(item: Json) -> str:
    return "It was not allowed." if text(item, "status") == "declined" else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
