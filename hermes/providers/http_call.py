"""One HTTP request to a provider: sending it, reading it whole, and noticing when nothing comes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hermes.core.errors import ProviderError
from hermes.providers.connection import Answer
from hermes.providers.fields import parse_json
from hermes.providers.network_errors import garbled
from hermes.providers.refusals import error_from_event, refusal_from_answer
from hermes.providers.stall_watch import Limits, StallWatch
from hermes.providers.way import Way

LARGEST_ANSWER = 64 * 1024 * 1024
LARGEST_ERROR = 64 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """Everything a request needs, worked out before the loop is troubled with it."""

    way: Way
    body: bytes = field(repr=False)
    limits: Limits
    """The silence after which the provider counts as stalled."""

    @property
    def host(self) -> str:
        return self.way.host


class Carrier(Protocol):
    """Brings a request to a provider and its answer back."""

    async def ask(self, way: Way, body: bytes) -> Answer:
        """Raises a ProviderError when that cannot be done."""


async def exchange(
    carrier: Carrier, call: HttpCall, read: Callable[[Answer, StallWatch], Awaitable[T]]
) -> T:
    """Send the request and let `read` take the answer, if it is a success and something comes."""
    watch = StallWatch(call.limits)
    try:
        answer = await carrier.ask(call.way, call.body)
        try:
            if not 200 <= answer.status < 300:
                raise await _refusal(call, answer)
            return await read(answer, watch)
        finally:
            answer.release()
    except asyncio.CancelledError:
        if watch.has_struck:
            raise watch.verdict(call.host) from None
        raise
    finally:
        watch.stop()


async def read_answer(carrier: Carrier, call: HttpCall) -> dict[str, Any]:
    """The whole answer of a call that is not streamed. It must be there within the limit."""

    async def read(answer: Answer, _watch: StallWatch) -> bytes:
        # Some servers send blanks while they work: no reason to wait for longer.
        return await read_at_most(answer, LARGEST_ANSWER + 1)

    body = await exchange(carrier, call, read)
    if len(body) > LARGEST_ANSWER:
        raise garbled(call.host, f"an answer of more than {LARGEST_ANSWER} bytes")
    return parsed_object(call, body)


class _Enough(Exception):
    """Ends the reading of a body."""


async def read_at_most(answer: Answer, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit

    def take(part: bytes) -> None:
        nonlocal left
        parts.append(part[:left])
        left -= len(part)
        if left <= 0:
            raise _Enough

    with contextlib.suppress(_Enough):
        await answer.pass_to(take)
    return b"".join(parts)


async def _refusal(call: HttpCall, answer: Answer) -> ProviderError:
    said = await read_at_most(answer, LARGEST_ERROR)
    return refusal_from_answer(call.host, answer.status, answer.headers, said, call.way.secrets)


def parsed_object(call: HttpCall, data: bytes) -> dict[str, Any]:
    """`data` as a JSON object that is not an error object."""
    try:
        parsed = parse_json(data)
    except ValueError:
        raise garbled(call.host, "something that is not JSON") from None
    if parsed.__class__ is not dict:
        raise garbled(call.host, "JSON that is not an object")
    if parsed.get("error"):
        raise error_from_event(parsed, host=call.host, secrets=call.way.secrets)
    return parsed
