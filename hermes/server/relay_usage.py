"""What a relayed answer used, read beside the stream: nothing here holds it up or breaks it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from hermes.backends.hosting.job_tokens import RelayDialect
from hermes.core.errors import ProviderError
from hermes.core.usage import Usage
from hermes.providers import anthropic, responses
from hermes.providers.fields import field, parse_json
from hermes.providers.sse_reader import SseReader

BYTES_PER_TOKEN = 4
LARGEST_BODY = 32 * 1024 * 1024

_USAGE = b'"usage"'
_DELTA = b'"delta"'
_USAGE_OF = {"anthropic": anthropic.usage_of, "responses": responses.usage_of}


class AnswerMeter(Protocol):
    """Is shown all bytes of one answer, in reads of any size."""

    def feed(self, data: bytes) -> None: ...

    def total(self) -> Usage:
        """What was used; estimated where the provider was not heard to the end."""


def meter_for(dialect: RelayDialect, content_type: str, asked_bytes: int) -> AnswerMeter:
    kind = StreamMeter if content_type == "text/event-stream" else BodyMeter
    return kind(dialect, asked_bytes)


class StreamMeter:
    """For event streams. Only events that count something are parsed."""

    def __init__(self, dialect: RelayDialect, asked_bytes: int) -> None:
        self._dialect = dialect
        self._asked_bytes = asked_bytes
        self._reader = SseReader()
        self._counted: dict[str, Any] = {}
        self._pieces = 0
        self._is_deaf = False
        self._has_final_count = False

    def feed(self, data: bytes) -> None:
        if self._is_deaf:
            return
        try:
            events = self._reader.feed(data)
        except ProviderError:  # an event without an end; passed on all the same
            self._is_deaf = True
            return
        for _, event in events:
            if _USAGE in event:
                self._count(event)
            elif _DELTA in event:
                self._pieces += 1

    def total(self) -> Usage:
        usage = _USAGE_OF[self._dialect](self._counted)
        if self._has_final_count:
            return usage
        # A job that hangs up before the count is told has used what it read all the same.
        read = usage.input_tokens or self._asked_bytes // BYTES_PER_TOKEN
        return _estimated(replace(usage, input_tokens=read), max(usage.output_tokens, self._pieces))

    def _count(self, event: bytes) -> None:
        said = _parsed(event)
        opening = field(field(said, "message"), "usage")
        closing = field(said, "usage") or field(field(said, "response"), "usage")
        for usage in (opening, closing):
            if isinstance(usage, dict):
                known = {name: value for name, value in usage.items() if value is not None}
                self._counted.update(known)
        self._has_final_count = self._has_final_count or isinstance(closing, dict)


class BodyMeter:
    """For answers in one piece."""

    def __init__(self, dialect: RelayDialect, asked_bytes: int) -> None:
        self._dialect = dialect
        self._asked_bytes = asked_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= LARGEST_BODY:
            self._parts.append(data)

    def total(self) -> Usage:
        usage = field(_parsed(b"".join(self._parts)), "usage")
        if isinstance(usage, dict):
            return _USAGE_OF[self._dialect](usage)
        read = self._asked_bytes // BYTES_PER_TOKEN
        return _estimated(Usage(input_tokens=read), self._size // BYTES_PER_TOKEN)


def _estimated(usage: Usage, output_tokens: int) -> Usage:
    return replace(
        usage,
        output_tokens=output_tokens,
        total_tokens=usage.input_tokens + output_tokens,
        is_estimated=True,
    )


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data)
    except ValueError:
        return None
