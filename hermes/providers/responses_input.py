"""A conversation as input items of the Responses wire. Pure; knows no client and no events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Content, Message, text_of, tool_calls_of
from hermes.providers.fields import arguments_text
from hermes.providers.prompt import function_of, replay_items

API_MODE = "codex_responses"

# Nothing is stored on their side, so their ids of items would point nowhere.
_UNSENT_KEYS = ("id", "status")


def input_items(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [item for message in messages for item in _items(message)]


def flat_tools(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tool definitions without their `function` level."""
    return [{"type": "function", "strict": False, **function_of(tool)} for tool in tools]


def _items(message: Message) -> list[dict[str, Any]]:
    role = message.get("role")
    if role == "assistant":
        return _assistant_items(message)
    if role == "tool":
        return [_tool_output(message)]
    return [{"type": "message", "role": role, "content": _parts(message.get("content"))}]


def _assistant_items(message: Message) -> list[dict[str, Any]]:
    text = text_of(message.get("content"))
    said: list[dict[str, Any]] = []
    if text:
        part = {"type": "output_text", "text": text}
        said.append({"type": "message", "role": "assistant", "content": [part]})
    said.extend(_function_call(call) for call in tool_calls_of(message))
    # Thinking without anything that follows from it is refused.
    return _thinking(message) + said if said else []


def _thinking(message: Message) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in item.items() if key not in _UNSENT_KEYS}
        for item in replay_items(message, API_MODE)
    ]


def _function_call(call: dict[str, Any]) -> dict[str, Any]:
    function = function_of(call)
    return {
        "type": "function_call",
        "call_id": str(call.get("id", "")),
        "name": function.get("name"),
        "arguments": arguments_text(function.get("arguments")) or "{}",
    }


def _tool_output(message: Message) -> dict[str, Any]:
    content = message.get("content")
    has_images = isinstance(content, list) and any(p.get("type") == "image_url" for p in content)
    return {
        "type": "function_call_output",
        "call_id": str(message.get("tool_call_id", "")),
        "output": _parts(content) if has_images else text_of(content),
    }


def _parts(content: Content | None) -> list[dict[str, Any]]:
    if not isinstance(content, list):
        return [{"type": "input_text", "text": content or ""}]
    return [_image(part) if part.get("type") == "image_url" else _text(part) for part in content]


def _text(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "input_text", "text": str(part.get("text", ""))}


def _image(part: dict[str, Any]) -> dict[str, Any]:
    image = part.get("image_url")
    if isinstance(image, dict):
        return {
            "type": "input_image",
            "image_url": image.get("url"),
            "detail": image.get("detail") or "auto",
        }
    return {"type": "input_image", "image_url": image, "detail": "auto"}
