"""The items of a response's output, and how each one looks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes.core.ids import derived_id
from hermes.wire.tool_forms import Preview

Item = dict[str, Any]

SERVER_LABEL = "hermes"
"""The name under which `mcp_call` items say whose tools were run."""


class ItemIds:
    """The ids of one response's items. They follow from its own, so that a replay has the same."""

    def __init__(self, response_id: str) -> None:
        self._response_id = response_id
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return derived_id(prefix, self._response_id, self._count)


def text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def message_item(item_id: str, text: str, status: str) -> Item:
    return {
        "id": item_id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [text_part(text)],
    }


def call_item(item_id: str, call_id: str, name: str, arguments: str, status: str) -> Item:
    return {
        "id": item_id,
        "type": "function_call",
        "status": status,
        "arguments": arguments,
        "call_id": call_id,
        "name": name,
    }


def call_output_item(item_id: str, call_id: str, output: str | list[dict[str, str]]) -> Item:
    return {
        "id": item_id,
        "type": "function_call_output",
        "status": "completed",
        "call_id": call_id,
        "output": output,
    }


def input_parts(text: str) -> list[dict[str, str]]:
    return [{"type": "input_text", "text": text}]


def mcp_item(item_id: str, name: str, arguments: str, status: str, **ending: Any) -> Item:
    """`ending` is the call's `output` or its `error`; the other one is null."""
    return {
        "id": item_id,
        "type": "mcp_call",
        "status": status,
        "server_label": SERVER_LABEL,
        "name": name,
        "arguments": arguments,
        "output": None,
        "error": None,
        "approval_request_id": None,
        **ending,
    }


def mcp_error(message: str) -> dict[str, Any]:
    """What is wrong with a call, in the one shape that readers know for a tool's own failure."""
    return {
        "type": "mcp_tool_execution_error",
        "content": [{"type": "text", "text": message}],
    }


def summary_part(text: str) -> dict[str, str]:
    return {"type": "summary_text", "text": text}


def reasoning_item(item_id: str, text: str | None = None) -> Item:
    """Without a text, an item that has only begun. It has no status, as OpenAI's have none."""
    return {
        "id": item_id,
        "type": "reasoning",
        "summary": [] if text is None else [summary_part(text)],
    }


def client_call_item(item_id: str, call: Mapping[str, Any]) -> Item:
    """A call that the client is to run, from its chat-completions shape."""
    function = called_function(call)
    return call_item(
        item_id, call_id_of(call), function["name"], function["arguments"], "completed"
    )


def call_id_of(call: Mapping[str, Any]) -> str:
    return str(call.get("id", ""))


def called_function(call: Mapping[str, Any]) -> dict[str, str]:
    """The name and the arguments of a call; agents may hold the latter as a mapping."""
    function = call.get("function") or {}
    arguments = function.get("arguments") or ""
    return {
        "name": str(function.get("name", "")),
        "arguments": arguments if isinstance(arguments, str) else arguments_text(arguments),
    }


def line_about(name: str, arguments: Mapping[str, Any], preview: Preview) -> str:
    """A call in one line, for a reader."""
    label = preview(name, arguments)
    return name if label == name else f"{name}: {label}"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments as compact JSON. What JSON cannot say is written as its text."""
    return json.dumps(dict(arguments), separators=(",", ":"), ensure_ascii=False, default=str)
