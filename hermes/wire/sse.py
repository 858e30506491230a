"""Server-sent events as bytes: the only place that knows how a frame looks.

Lines end with `\\n` alone, and a frame is always returned whole, so that it can be written at once.
"""

from __future__ import annotations

import re

KEEPALIVE = b": keepalive\n\n"
DONE = b"data: [DONE]\n\n"

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


def frame(data: bytes | str, event: str | None = None, event_id: str | None = None) -> bytes:
    """One event. No line break inside any of the three can end it early or add a field."""
    text = data.decode(errors="replace") if isinstance(data, bytes) else data
    lines = [f"data: {line}" for line in _LINE_BREAK.split(text)]
    if event is not None:
        lines.insert(0, f"event: {_LINE_BREAK.sub(' ', event)}")
    if event_id is not None:
        lines.insert(0, f"id: {_LINE_BREAK.sub(' ', event_id)}")
    return ("\n".join(lines) + "\n\n").encode(errors="replace")


def queued(place: int) -> bytes:
    """A comment: a turn that has not begun is nothing that OpenAI's streams know of."""
    return b": queued %d\n\n" % place
