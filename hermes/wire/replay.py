"""A Responses stream taken apart again: its events, and the end it may have missed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.wire.sse import frame

_EVENT = re.compile(
    rb'event: (\S+)\ndata: (\{"type": "[^"]*", "sequence_number": (\d+),.*)', re.DOTALL
)
_ENDS = {
    "completed": "response.completed",
    "failed": "response.failed",
}
_END_KINDS = {*_ENDS.values(), "response.incomplete"}


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event of a stream, as it was sent."""

    number: int
    kind: str
    data: bytes
    """Its JSON."""

    @property
    def is_end(self) -> bool:
        return self.kind in _END_KINDS

    @property
    def frame(self) -> bytes:
        return b"event: %b\ndata: %b\n\n" % (self.kind.encode(), self.data)


def sent_events(frames: bytes) -> Iterator[SentEvent]:
    """The events in whole frames; comments and the closing mark are none."""
    for piece in frames.split(b"\n\n"):
        found = _EVENT.match(piece)
        if found is not None:
            kind, data, number = found.groups()
            yield SentEvent(int(number), kind.decode(), data)


def missing_end(response: Mapping[str, Any], number: int) -> SentEvent:
    """The terminal event of a stream that was cut before it: by a cancellation, by a restart."""
    kind = _ENDS.get(response["status"], "response.incomplete")
    data = json.dumps({"type": kind, "sequence_number": number, "response": response})
    return SentEvent(number, kind, data.encode())


def error_frame(message: str, code: str, number: int) -> bytes:
    """For a stream that cannot say how it ended."""
    data = {"type": "error", "sequence_number": number, "code": code, "message": message}
    return frame(json.dumps({**data, "param": None}), "error")
