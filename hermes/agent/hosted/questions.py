"""From a turn to what a CLI is asked: the new message, and what went before where it has to know.

A CLI takes one message at a time. One that remembers the conversation is told the new message
only; another one is told the conversation in that message.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

from hermes.backends.jobs import Image, Question
from hermes.core.images import image_type_of
from hermes.core.messages import Content, Message, text_of, tool_calls_of
from hermes.core.turn import AnswerFormat

_NAMES = {"user": "User", "assistant": "Assistant", "system": "Note", "tool": "Tool result"}
_BEFORE = "What was said in this conversation so far:\n\n{told}\n\nThe user's new message:\n\n{new}"
_CONTINUE = "Go on."
_JSON = "\n\nAnswer with nothing but JSON, without explanation or code block{keeping}."


def question_of(
    said: Sequence[Content],
    history: Sequence[Message],
    wanted: AnswerFormat | None = None,
) -> Question:
    """`said` is new, `history` what the CLI does not know; `wanted` what it has to be told of."""
    new = "\n\n".join(filter(None, map(text_of, said))) or _CONTINUE
    told = "\n\n".join(filter(None, map(_told, history)))
    text = _BEFORE.format(told=told, new=new) if told else new
    images = tuple(image for content in said for image in _images(content))
    return Question(text=text + _format(wanted), images=images)


def _format(wanted: AnswerFormat | None) -> str:
    if wanted is None:
        return ""
    schema = "" if wanted.schema is None else json.dumps(wanted.schema, ensure_ascii=False)
    return _JSON.format(keeping=f" that keeps to this JSON schema: {schema}" if schema else "")


def _told(message: Message) -> str:
    name = _NAMES.get(str(message.get("role")), "Note")
    content = message.get("content")
    parts = [text_of(content), *(f"[called {_call(call)}]" for call in tool_calls_of(message))]
    if isinstance(content, list):
        parts += ["[an image]" for part in content if part.get("type") == "image_url"]
    text = "\n".join(filter(None, parts))
    return f"{name}:\n{text}" if text else ""


def _call(call: Any) -> str:
    function = call.get("function") or {}
    return f"{function.get('name', 'a tool')}({function.get('arguments', '')})"


def _images(content: Content) -> list[Image]:
    if isinstance(content, str):
        return []
    urls = (part.get("image_url") for part in content if part.get("type") == "image_url")
    found = (_image(url.get("url", "") if isinstance(url, dict) else url) for url in urls)
    return [image for image in found if image is not None]


def _image(url: Any) -> Image | None:
    """Of a data URL; those behind other URLs were fetched when the request came in."""
    _, comma, encoded = str(url).partition(";base64,")
    if not comma:
        return None
    try:
        data = base64.b64decode(encoded, validate=False)
    except (binascii.Error, ValueError):
        return None
    media_type = image_type_of(data)
    return None if media_type is None else Image(media_type=media_type, data=data)
