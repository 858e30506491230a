"""The `input` of a Responses request as messages: what each kind of item stands for.

Items may point outside: to a stored item, to what a compaction replaced. Whoever calls has looked
that up before; nothing here reads a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.messages import Message, text_of
from hermes.wire.content import normalise
from hermes.wire.conversation import read_plain
from hermes.wire.lenient import required_text, shown, text, wrong_type
from hermes.wire.own_renderings import strip_content

Item = dict[str, Any]

_REFERENCE = "item_reference"
_PHASES = ("commentary", "final_answer")


def no_compactions(_sealed: str, param: str) -> list[Message]:
    """For inputs that cannot hold one."""
    raise foreign_compaction(param)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the items of one input may point to."""

    items: Mapping[str, Item] = field(default_factory=dict)
    """Stored items by their ids, as far as they were found."""
    open_compaction: Callable[[str, str], list[Message]] = no_compactions
    """The messages that a compaction stands for, from its content and the name of its place."""


NOTHING_OUTSIDE = Outside()


def referenced_ids(value: Any) -> list[str]:
    """The stored items that an input points to."""
    if not isinstance(value, list):
        return []
    found = (raw.get("id") for raw in value if isinstance(raw, dict) and _kind(raw) == _REFERENCE)
    return [item_id for item_id in found if isinstance(item_id, str)]


def has_compaction(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(raw, dict) and _kind(raw) == "compaction" for raw in value
    )


def read_items(
    value: Any, outside: Outside = NOTHING_OUTSIDE, *, param: str = "input"
) -> list[Item]:
    """The items of an input, with what they refer to in the place of references."""
    if value is None or value == "" or value == []:
        raise InvalidRequest(
            f"'{param}' is required: a string, or a list that ends with a user message.",
            param=param,
            code="missing_required_parameter",
        )
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    if not isinstance(value, list):
        raise wrong_type(param, "a string or a list of items", value)
    return [_dereferenced(raw, outside, f"{param}[{at}]") for at, raw in enumerate(value)]


def messages_of(
    items: list[Item], outside: Outside = NOTHING_OUTSIDE, *, param: str = "input"
) -> list[Message]:
    """The same in the chat shape. What cannot be carried on is refused by name."""
    messages: list[Message] = []
    for at, item in enumerate(items):
        _add_item(messages, item, outside, f"{param}[{at}]")
    return messages


def foreign_compaction(param: str) -> InvalidRequest:
    return InvalidRequest(
        "This compaction was not made by this gateway, or was altered; send what "
        "POST /v1/responses/compact answered, or the messages themselves.",
        param=f"{param}.encrypted_content",
        code="invalid_compaction",
    )


def _kind(raw: Mapping[str, Any]) -> Any:
    """Clients leave the type out of messages, and some of references."""
    kind = raw.get("type")
    if kind is None:
        return _REFERENCE if "id" in raw and "role" not in raw else "message"
    return kind


def _dereferenced(raw: Any, outside: Outside, param: str) -> Item:
    if not isinstance(raw, dict):
        raise wrong_type(param, "an input item object", raw)
    if _kind(raw) != _REFERENCE:
        return raw
    item_id = required_text(raw, "id", param=f"{param}.id")
    found = outside.items.get(item_id)
    if found is None:
        raise NotFound(
            f"No stored item has the id {shown(item_id)}; send the item itself, or use "
            "previous_response_id.",
            param=f"{param}.id",
            code="item_not_found",
        )
    return found


def _add_item(messages: list[Message], raw: Item, outside: Outside, param: str) -> None:
    match _kind(raw):
        case "message":
            messages.append(_message(raw, param))
        case "function_call":
            call_id = required_text(raw, "call_id", param=f"{param}.call_id")
            _add_call(messages, call_id, raw, param)
        case "function_call_output":
            messages.append(_call_output(raw, param))
        case "mcp_call":
            _add_finished_call(messages, raw, param)
        case "reasoning":
            # Another model's thinking; it is no part of what was said.
            pass
        case "compaction":
            sealed = required_text(raw, "encrypted_content", param=f"{param}.encrypted_content")
            messages.extend(outside.open_compaction(sealed, param))
        case kind:
            raise InvalidRequest(
                f"Input items of type {shown(kind)} are not supported; use message, "
                "function_call, function_call_output, mcp_call, reasoning, compaction or "
                "item_reference.",
                param=f"{param}.type",
                code="unsupported_item_type",
            )


def _message(raw: Item, param: str) -> Message:
    match raw.get("role"):
        case "system" | "developer" | "user" as role:
            return read_plain(role, raw, param)
        case "assistant":
            _check_phase(raw, param)
            content = normalise(raw.get("content"), param=f"{param}.content")
            return {"role": "assistant", "content": strip_content(content)}
        case role:
            raise InvalidRequest(
                f"'{param}.role' must be user, assistant, system or developer, not {shown(role)}.",
                param=f"{param}.role",
                code="invalid_value",
            )


def _check_phase(raw: Item, param: str) -> None:
    phase = raw.get("phase")
    if phase is not None and phase not in _PHASES:
        raise InvalidRequest(
            f"'{param}.phase' must be one of {', '.join(_PHASES)}, not {shown(phase)}.",
            param=f"{param}.phase",
            code="invalid_value",
        )


def _add_call(messages: list[Message], call_id: str, raw: Item, param: str) -> None:
    """Calls join the assistant's message right before them: one message speaks and calls."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    arguments = raw.get("arguments")
    if not isinstance(arguments, str):
        raise wrong_type(f"{param}.arguments", "a string", arguments)
    name = required_text(raw, "name", param=f"{param}.name")
    call = {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    messages[-1].setdefault("tool_calls", []).append(call)


def _call_output(raw: Item, param: str) -> Message:
    return {
        "role": "tool",
        "tool_call_id": required_text(raw, "call_id", param=f"{param}.call_id"),
        "content": normalise(raw.get("output"), param=f"{param}.output"),
    }


def _add_finished_call(messages: list[Message], raw: Item, param: str) -> None:
    """A call the server ran itself, as it is shown to clients that would run a function_call."""
    call_id = required_text(raw, "id", param=f"{param}.id")
    _add_call(messages, call_id, raw, param)
    output = text(raw, "output", param=f"{param}.output")
    messages.append(
        {
            "role": "tool",
            "tool_call_id": call_id,
            "content": _error_text(raw.get("error")) if output is None else output,
        }
    )


def _error_text(error: Any) -> str:
    """Servers write an error as a text, or as an object with a text or parts of it."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("content")
    if isinstance(error, list):
        return text_of([part for part in error if isinstance(part, dict)])
    return error if isinstance(error, str) else ""
