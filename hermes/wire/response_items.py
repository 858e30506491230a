"""The items of a response's output: how each one looks, and which ones a finished turn leaves."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from hermes.core.events import is_internal
from hermes.core.ids import new_id
from hermes.core.messages import Message, text_of, tool_calls_of
from hermes.core.turn import TurnResult

Item = dict[str, Any]


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


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments as compact JSON. What JSON cannot say is written as its text."""
    return json.dumps(dict(arguments), separators=(",", ":"), ensure_ascii=False, default=str)


def output_items(result: TurnResult, *, prior: int) -> list[Item]:
    """The output of a turn whose messages follow the first `prior` ones; the answer comes last."""
    turn = result.messages[prior:]
    hidden = _internal_call_ids(turn)
    answered = {str(message["tool_call_id"]) for message in turn if "tool_call_id" in message}
    shown = (item for message in turn for item in _items_of(message, answered))
    items = [item for item in shown if item.get("call_id") not in hidden]
    status = "completed" if result.is_complete else "incomplete"
    if items and _is_answer(items[-1], result.text):
        items[-1]["status"] = status
    elif result.text or result.is_complete:
        items.append(message_item(new_id("msg_"), result.text, status))
    return items


def _items_of(message: Message, answered: Container[str]) -> Iterator[Item]:
    role = message.get("role")
    if role == "assistant":
        text = text_of(message.get("content"))
        if text:
            yield message_item(new_id("msg_"), text, "completed")
        yield from (_call(call, answered) for call in tool_calls_of(message))
    elif role == "tool":
        call_id = str(message.get("tool_call_id"))
        yield call_output_item(new_id("fco_"), call_id, text_of(message.get("content")))


def _call(call: Mapping[str, Any], answered: Container[str]) -> Item:
    function = call.get("function") or {}
    arguments = function.get("arguments") or ""
    call_id = _call_id(call)
    return call_item(
        new_id("fc_"),
        call_id,
        str(function.get("name", "")),
        arguments if isinstance(arguments, str) else arguments_text(arguments),
        "completed" if call_id in answered else "incomplete",
    )


def _call_id(call: Mapping[str, Any]) -> str:
    return str(call.get("id", ""))


def _internal_call_ids(turn: Sequence[Message]) -> set[str]:
    return {
        _call_id(call)
        for message in turn
        for call in tool_calls_of(message)
        if is_internal(str((call.get("function") or {}).get("name", "")))
    }


def _is_answer(item: Item, text: str) -> bool:
    return bool(item["type"] == "message" and item["content"][0]["text"] == text)
