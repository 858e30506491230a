"""What every provider dialect of the fake provider has in common: speakers that yield frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import orjson

from hermes.testing.replies import Answer
from hermes.testing.requests import ModelRequest

Frame = tuple[float, bytes]
"""Seconds to wait before sending, and the bytes of one server-sent event."""

GARBAGE = b'data: {"this is": not JSON\n\n'


class Speaker(Protocol):
    """Says one answer in one dialect. Made for one request; the methods are called in order."""

    def __init__(self, answer: Answer, request: ModelRequest) -> None: ...

    def begin(self) -> Iterator[Frame]:
        """The events before the answer's first part."""

    def deliver(self) -> Iterator[Frame]:
        """The events of the parts."""

    def end(self) -> Iterator[Frame]:
        """The events that make the answer complete."""

    def error(self, message: str) -> bytes:
        """The event by which this dialect reports a failure in mid-stream."""

    def whole(self) -> dict[str, Any]:
        """The body of an answer that is not streamed."""


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    prefix = f"event: {name}\n".encode() if name else b""
    return prefix + b"data: " + orjson.dumps(data) + b"\n\n"


def call_id(given: str | None, request: ModelRequest, position: int) -> str:
    return given or f"call_{request.number}_{position}"
