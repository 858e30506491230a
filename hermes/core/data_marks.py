"""Marks around text that is not the user's, so that a model can tell where it begins and ends.

What tools returned is marked when a request to the provider is made; nothing of it is stored, and
no client sees it. The same text is always marked in the same way, so that providers can cache it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Content, Message

TOOL_OUTPUT = "tool_output"


def mark(text: str, name: str = TOOL_OUTPUT) -> str:
    """The text between two tags that nothing in it can be mistaken for."""
    return f"<{name}>\n{_without_fakes(text, name)}\n</{name}>"


def unmark(text: str, name: str = TOOL_OUTPUT) -> str:
    """What was marked, as it was; text without marks is left alone."""
    begin, end = f"<{name}>\n", f"\n</{name}>"
    if not (text.startswith(begin) and text.endswith(end) and len(text) >= len(begin) + len(end)):
        return text
    return _tags(name, r"\\").sub(r"<\1", text[len(begin) : len(text) - len(end)])


def with_marks(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, each result of a tool with its marks; the very same where there is none."""
    for message in messages:
        if message.get("role") == "tool":
            break
    else:
        return messages
    return [
        {**message, "content": _marked(message.get("content"))}
        if message.get("role") == "tool"
        else message
        for message in messages
    ]


def _marked(content: Content | None) -> Content:
    if isinstance(content, list):
        return [_marked_part(part) for part in content]
    return mark(content or "")


def _marked_part(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "text": mark(str(part["text"]))} if part.get("type") == "text" else part


def _without_fakes(text: str, name: str) -> str:
    """With one backslash more in whatever looks like a tag: so nothing is lost."""
    # Looking for the word first is many times quicker, and it is hardly ever there.
    return _tags(name).sub(r"<\\\1", text) if name in text.lower() else text


@functools.cache
def _tags(name: str, escape: str = "") -> re.Pattern[str]:
    return re.compile(rf"<{escape}(\\*\s*/?\s*{name})", re.IGNORECASE)
