"""A Responses stream taken apart again: its events, and those after a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EVENT = re.compile(
    rb'event: (\S+)\ndata: (\{"type": "[^"]*", "sequence_number": (\d+),.*)', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event of a stream, as it was sent."""

    number: int
    kind: str
    data: bytes
    """Its JSON."""


def sent_events(frames: bytes) -> Iterator[SentEvent]:
    """The events in whole frames; comments and the closing mark are none."""
    for piece in frames.split(b"\n\n"):
        found = _EVENT.match(piece)
        if found is not None:
            kind, data, number = found.groups()
            yield SentEvent(int(number), kind.decode(), data)


def after(frames: bytes, number: int) -> bytes:
    """Whole frames without the events up to this number; comments and the closing mark stay."""
    pieces = frames.split(b"\n\n")[:-1]
    return b"".join(piece + b"\n\n" for piece in pieces if _is_after(piece, number))


def _is_after(piece: bytes, number: int) -> bool:
    found = _EVENT.match(piece)
    return found is None or int(found[3]) > number
