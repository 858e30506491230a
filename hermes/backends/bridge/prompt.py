"""Chat messages become one prompt text, because the CLI takes a single one. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hermes.backends.bridge.body import invalid
from hermes.core.messages import tool_calls_of

LABELS = {
    "system": "System",
    "developer": "System",
    "user": "User",
    "assistant": "Assistant",
    "tool": "Tool result",
    "function": "Tool result",
}

TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


def build_prompt(messages: Sequence[Any]) -> str:
    """Every message under the name of its role, in order; a lone user message stands as it is.

    The result can always be a command-line argument. Raises `InvalidRequest`, e.g. for images.
    """
    spoken = [(_label(message, at), _text(message, at)) for at, message in enumerate(messages)]
    spoken = [(label, text) for label, text in spoken if text.strip()]
    match spoken:
        case []:
            raise invalid("the messages contain no text", param="messages")
        case [("User", text)]:
            return as_argument(text)
        case _:
            return as_argument("\n\n".join(f"{label}:\n{text}" for label, text in spoken))


def _label(message: Any, at: int) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    label = LABELS.get(role) if isinstance(role, str) else None
    if label is None:
        wanted = ", ".join(LABELS)
        raise invalid(f"each message needs a role, one of: {wanted}", param=f"messages[{at}].role")
    return label


def _text(message: dict[str, Any], at: int) -> str:
    calls = [_call(call) for call in tool_calls_of(message)]
    return "\n".join([*_texts(message.get("content"), at), *calls])


def _texts(content: Any, at: int) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [_part(part, at) for part in content]
    raise invalid("content must be text or a list of text parts", param=f"messages[{at}].content")


def _part(part: Any, at: int) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(kind, str) and kind in TEXT_PARTS:
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str):
            return text
    if isinstance(kind, str) and "image" in kind:
        detail = "images are not supported by this bridge; describe the image in text"
        raise invalid(detail, param=f"messages[{at}].content")
    raise invalid("only text parts are supported", param=f"messages[{at}].content")


def _call(call: Any) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return "[called a tool]"
    arguments = function.get("arguments", "")
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"[called {function.get('name', 'a tool')}({shown})]"


def as_argument(text: str) -> str:
    """The operating system takes neither NUL nor half a character pair in an argument."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
