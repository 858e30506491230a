"""Lines that we write into a model's thinking on behalf of a tool, and how to find them again.

Clients send back what they were shown, and a model that reads such lines in its own past starts
to write them instead of calling tools. So each carries an invisible mark and is taken out.
"""

from __future__ import annotations

import re

from hermes.core.messages import Content

# Invisible characters. No end of a mark is also its beginning, so text that happens to end with
# one of them cannot be mistaken for a part of the mark after it.
MARK = "\u2063\u2063\u2064"
_END = "\u2064\u2063\u2063"

_RENDERING = re.compile(f"{MARK}[^\u2063\u2064]*{_END}")
_MARK_CHARACTERS = str.maketrans("", "", "\u2063\u2064")

# What Open WebUI makes of thinking and of calls. A block ends before the next one begins and a
# tag before the next tag, so that a text full of them is still read in one pass.
_BLOCK = re.compile(
    r'<details type="(?:reasoning|tool_calls)"[^<>]*>(?:(?!<details).)*?</details>\n?', re.DOTALL
)
_THOUGHT = re.compile(r"<think>(?:(?!<think>).)*?</think>\n?", re.DOTALL)


def render(line: str) -> str:
    """A line of its own, marked as ours. What could be taken for a mark is left out of it."""
    return f"{MARK}\n- {' '.join(line.translate(_MARK_CHARACTERS).split())}\n{_END}"


def strip(text: str) -> str:
    """The text without what we rendered; a block of thinking around a rendering goes with it."""
    if MARK not in text:
        return text
    for block in (_BLOCK, _THOUGHT):
        text = block.sub(_without_ours, text)
    return _RENDERING.sub("", text)


def strip_content(content: Content) -> Content:
    """The same for the content of a message."""
    if isinstance(content, str):
        return strip(content)
    return [
        {**part, "text": strip(part["text"])} if part.get("type") == "text" else part
        for part in content
    ]


def _without_ours(block: re.Match[str]) -> str:
    return "" if MARK in block[0] else block[0]
