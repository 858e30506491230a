"""How many tokens an input may have, without a tokenizer: four bytes of text count as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Message, text_of, tool_calls_of

BYTES_PER_TOKEN = 4
PER_MESSAGE = 4
"""What stands around each message: its role and its borders."""
PER_IMAGE = 1000


def estimate_tokens(
    messages: Sequence[Message], *, prompt: str | None = None, tools: Sequence[Any] = ()
) -> int:
    """Errs on the high side for English, on the low side for scripts with few words per byte."""
    total = sum(_message(message) for message in messages)
    if prompt:
        total += PER_MESSAGE + _text(prompt)
    return total + (_text(json.dumps(list(tools))) if tools else 0)


def _message(message: Message) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    images = sum(1 for part in parts if part.get("type") == "image_url")
    calls = tool_calls_of(message)
    called = _text(json.dumps(calls)) if calls else 0
    return PER_MESSAGE + _text(text_of(content)) + images * PER_IMAGE + called


def _text(text: str) -> int:
    return -(-len(text.encode(errors="surrogatepass")) // BYTES_PER_TOKEN)
