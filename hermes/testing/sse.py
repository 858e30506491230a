"""A strict little parser of server-sent events, the reference our own streams are read with.

A browser forgives and drops what it cannot read; this parser raises `ValueError` instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One delivered event; `event` and `id` are None when the stream does not name them."""

    event: str | None
    data: str
    id: str | None = None


def parse_events(stream: str | bytes) -> list[ServerSentEvent]:
    """Every event of a complete stream. Comments are skipped; an unfinished end is an error."""
    text = stream.decode() if isinstance(stream, bytes) else stream
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if text and not text.endswith("\n\n"):
        raise ValueError(f"The stream ends in the middle of an event: {text[-80:]!r}")
    blocks = (block.split("\n") for block in re.split(r"\n\n+", text))
    return [event for block in blocks if (event := _event(block)) is not None]


def _event(lines: list[str]) -> ServerSentEvent | None:
    fields = [_field(line) for line in lines if line and not line.startswith(":")]
    named = {name: value for name, value in fields if name != "data"}
    data = [value for name, value in fields if name == "data"]
    if not fields or (set(named) == {"retry"} and not data):
        return None
    if not data:
        raise ValueError(f"An event without data is never delivered: {lines!r}")
    return ServerSentEvent(named.get("event"), "\n".join(data), named.get("id"))


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or name not in {"data", "event", "id", "retry"}:
        raise ValueError(f"Not a field of an event: {line[:80]!r}")
    if name == "retry" and not re.fullmatch(r" ?[0-9]+", value):
        raise ValueError(f"A retry time has digits only: {line[:80]!r}")
    return name, value.removeprefix(" ")
