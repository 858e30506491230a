"""Claude Code's own tools: its calls, their results, and what it asks permission for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes.backends.drivers.foreign_json import Json, at, inner, items, text
from hermes.backends.saying import Event, PermissionAsked, ToolAnswered, ToolCalled

ANSWER_TOOL = "StructuredOutput"
"""How the CLI has the model give an answer that keeps to a schema; not a tool to the reader."""

_SHOWN = ("command", "file_path", "notebook_path", "path", "url", "query", "pattern", "prompt")
"""Which argument says what would be done, the first that is there."""

_WANTS = {
    "Bash": "wants to run a command",
    "Edit": "wants to change a file",
    "MultiEdit": "wants to change a file",
    "NotebookEdit": "wants to change a notebook",
    "Read": "wants to read a file",
    "Task": "wants to start an agent of its own",
    "WebFetch": "wants to read a web page",
    "WebSearch": "wants to search the web",
    "Write": "wants to write a file",
}


class Tools:
    """Which calls there were, so that their results can be given a name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def called(self, message: Json) -> list[Event]:
        """The calls in a line of the model's."""
        return [
            self._call(block)
            for block in items(message, "content")
            if block.get("type") == "tool_use" and block.get("name") != ANSWER_TOOL
        ]

    def answered(self, message: Json) -> list[Event]:
        """The results in a line of the user's, in whose name tools answer."""
        return [
            self._answer(block)
            for block in items(message, "content")
            if block.get("type") == "tool_result" and text(block, "tool_use_id") in self._names
        ]

    def _call(self, block: Json) -> ToolCalled:
        call_id, name = text(block, "id"), text(block, "name")
        self._names[call_id] = name
        return ToolCalled(call_id, name, inner(block, "input"))

    def _answer(self, block: Json) -> ToolAnswered:
        call_id = text(block, "tool_use_id")
        is_error = block.get("is_error") is True
        return ToolAnswered(call_id, self._names[call_id], _output(block), is_error=is_error)


def permission_asked(request_id: str, request: Json) -> PermissionAsked:
    tool, arguments = text(request, "tool_name"), inner(request, "input")
    return PermissionAsked(
        id=request_id,
        call_id=text(request, "tool_use_id"),
        tool=tool,
        arguments=arguments,
        shown=_shown(arguments),
        reason=_WANTS.get(tool, f"wants to use {tool}"),
    )


def _shown(arguments: Mapping[str, Any]) -> str:
    named = (text(arguments, name) for name in _SHOWN)
    return next(filter(None, named), "") or json.dumps(arguments, ensure_ascii=False)


def _output(block: Json) -> str:
    content = at(block, "content")
    if isinstance(content, str):
        return content
    return "\n".join(
        text(part, "text") or f"[{text(part, 'type')}]" for part in items(block, "content")
    )
