"""How many tokens a model may see in a text, without its tokenizer.

Good to about a third; whoever has to be closer learns from the counts that providers report.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Message, text_of, tool_calls_of

PER_MESSAGE = 4
"""What stands around each message: its role and its borders."""
PER_IMAGE = 1000
MOST_PER_CHARACTER = 1.5
"""No text counts more; the sum of lengths is therefore a quick bound."""

_MARKS = '{}[]()<>="_/\\:;'
"""Code and data have many of them, and each tends to end a token."""
_REPLAY_CHARACTERS = 6
"""Of what a provider wants to see again, most of it encoded: so many are about a token."""


def text_tokens(text: str) -> int:
    """Four letters are one token, two marks are; beyond ASCII a letter may be a whole one."""
    characters = len(text)
    beyond = len(text.encode(errors="surrogatepass")) - characters
    marks = sum(map(text.count, _MARKS))
    # Two bytes (Cyrillic) come to 5/8 of a token, three (Chinese) to a whole one.
    return -(-(2 * characters + 3 * beyond + 2 * marks) // 8)


def message_tokens(message: Message) -> int:
    return estimate_tokens((message,))


def tools_tokens(tools: Sequence[Any]) -> int:
    return text_tokens(json.dumps(list(tools))) if tools else 0


def estimate_tokens(
    messages: Sequence[Message], *, prompt: str | None = None, tools: Sequence[Any] = ()
) -> int:
    """All texts are counted as one: many small ones take longer, and come to the same."""
    texts = [prompt or ""]
    total = tools_tokens(tools) + PER_MESSAGE * (len(messages) + bool(prompt))
    for message in messages:
        content = message.get("content")
        texts.append(content if content.__class__ is str else text_of(content))
        if content.__class__ is list:
            total += PER_IMAGE * sum(part.get("type") == "image_url" for part in content)
        if "tool_calls" in message:
            texts.append(json.dumps(tool_calls_of(message)))
        if "replay" in message:
            total += len(json.dumps(message["replay"])) // _REPLAY_CHARACTERS
    return total + text_tokens("".join(texts))


def quick_bound(messages: Sequence[Message]) -> float | None:
    """What the messages count at most; None where only the estimate can tell."""
    characters = 0
    for message in messages:
        content = message.get("content")
        if content.__class__ is not str or "tool_calls" in message or "replay" in message:
            return None
        characters += len(content)
    return MOST_PER_CHARACTER * characters + PER_MESSAGE * len(messages)
