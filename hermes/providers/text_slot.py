"""Reads the text out of stream events that are alike but for their text, without parsing them.

The events of an answer differ, as a rule, in one string only. Once the place of that string is
known, cutting it out costs a tenth of parsing the event and walking through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

TextOf = Callable[[dict[str, Any]], str | None]
"""The text of an event that carries text and nothing else that counts; None for any other."""

TRIES = 3
"""Some servers put something new into every event; there is nothing to be learnt from them."""

_PROBE = "\u241fprobe\u241f"


class TextSlot:
    """The place of the text in one stream's events. Whatever does not fit exactly is left alone."""

    def __init__(self, text_of: TextOf) -> None:
        self._text_of = text_of
        self._tries_left = TRIES
        self._before = b""
        self._after = b""
        self._head = b""
        self._end = b""

    def cut(self, data: bytes) -> tuple[str, bytes]:
        """The text that all leading events of this kind bring together, and what comes behind them.

        `data` is a piece of the stream itself. One search through it finds the borders of all the
        events: they contain line breaks, which no string in JSON does.
        """
        head, end = self._head, self._end
        if not head or not data.startswith(head):
            return "", data
        strings = data[len(head) :].split(end + head)
        last, found, rest = strings[-1].partition(end)
        if found:
            strings[-1] = last
        else:
            rest = head + strings.pop()
        literal = b'"%b"' % b"".join(strings)
        if b"\n" in literal:
            return "", data  # an event of another kind in between
        try:
            text = orjson.loads(literal)
        except orjson.JSONDecodeError:
            return "", data  # more than a string: let the parser decide
        return text, rest

    def read(self, data: bytes) -> str | None:
        """The text of one event, if it is like the one learnt from; None when it must be parsed."""
        before, after = self._before, self._after
        if not before or not (data.startswith(before) and data.endswith(after)):
            return None
        literal = data[len(before) : len(data) - len(after)]
        if len(literal) < 2 or b'"' in literal[1:-1]:
            return None  # an escaped quote, or another string: let the parser decide
        try:
            text = orjson.loads(literal)
        except orjson.JSONDecodeError:
            return None
        return text if isinstance(text, str) and text else None

    def learn(self, data: bytes, event: dict[str, Any]) -> None:
        """Look at a parsed event, to recognise the next one of its kind."""
        if not self._tries_left:
            return
        text = self._text_of(event)
        if not text:
            return
        self._tries_left -= 1
        literal = orjson.dumps(text)
        if data.count(literal) != 1:
            return
        before, _, after = data.partition(literal)
        if self._proves(before, after):
            self._before, self._after, self._tries_left = before, after, 0
            self._head, self._end = b'data: %b"' % before, b'"%b\n\n' % after

    def _proves(self, before: bytes, after: bytes) -> bool:
        """Whether a string put between the two is really read as the event's text."""
        try:
            event = orjson.loads(before + orjson.dumps(_PROBE) + after)
        except orjson.JSONDecodeError:
            return False
        return isinstance(event, dict) and self._text_of(event) == _PROBE
