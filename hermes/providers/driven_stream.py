"""A provider's event stream that is read on the event loop while one thread waits for its end.

Events are handed over on the loop, all of one network read in one go: no task, future or thread
switch per token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from hermes.core.errors import ProviderError
from hermes.providers.connection import Answer
from hermes.providers.http_call import (
    LARGEST_ERROR,
    Carrier,
    HttpCall,
    exchange,
    parsed_object,
    read_at_most,
)
from hermes.providers.loop_call import LoopCall
from hermes.providers.network_errors import BROKEN_CONNECTION, broken_off, garbled
from hermes.providers.sse_reader import NamedData, SseReader
from hermes.providers.stall_watch import StallWatch
from hermes.providers.text_slot import TextOf, TextSlot

OnEvent = Callable[[dict[str, Any]], None]
OnText = Callable[[str], None]

DRAIN_SECONDS = 0.25
"""How long we wait for the end of a body after its last event, to reuse the connection."""

AFTERMATH_SECONDS = 5.0
"""How long usage may take to follow a finished answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What has to be known of a wire to read its events without understanding them."""

    text_of: TextOf
    ends_answer: Callable[[dict[str, Any]], bool]
    more_may_follow: bool
    """Whether the answer's last event may be followed by usage (chat completions)."""


class DrivenStream:
    """One streamed call. Nothing is sent before `drive`."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        running: set[asyncio.Task[Any]],
        carrier: Callable[[], Carrier],
        call: HttpCall,
        wire: Wire,
    ) -> None:
        self._loop_call = LoopCall(loop, self._read, running=running)
        self._carrier = carrier
        self._call = call
        self._wire = wire
        self._slot = TextSlot(wire.text_of)
        self._on_event: OnEvent = _ignore
        self._on_text: OnText = _ignore
        self._last_event: dict[str, Any] | None = None
        self._is_over = False

    def drive(self, on_event: OnEvent, on_text: OnText | None = None) -> None:
        """Send the request and block until the stream is over; both callbacks run on the loop.

        With `on_text`, text that comes in events of its own is handed to it unparsed, all of one
        network read in one piece; `on_event` gets everything else.

        Raises what ended the stream early, also what a callback raised (a HermesError, please:
        others may be taken for the network's). Afterwards neither is called again.
        """
        self._on_event = on_event
        self._on_text = on_text or _ignore
        self._loop_call.wait()

    def cancel(self) -> None:
        """End `drive` with Interrupted and release the connection. From any thread."""
        self._loop_call.cancel()

    close = cancel

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cancel()

    @property
    def final(self) -> dict[str, Any] | None:
        """What the stream ended with: the final response where the wire has one, else `{}`."""
        if not self._is_over:
            return None
        response = (self._last_event or {}).get("response")
        return response if isinstance(response, dict) else {}

    def get_final_response(self) -> dict[str, Any] | None:
        return self.final or None

    def get_final_message(self) -> None:
        """Messages have no final object on this wire: the events said everything."""

    async def _read(self) -> None:
        try:
            await exchange(self._carrier(), self._call, self._read_answer)
        except ProviderError as error:
            is_complete = self._is_over or self._last_event is not None
            # A complete answer stays complete, whatever then happens to its connection.
            if not is_complete or error.code not in BROKEN_CONNECTION:
                raise
        self._is_over = True

    async def _read_answer(self, answer: Answer, watch: StallWatch) -> None:
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("application/json", "text/html"):
            await self._refuse_document(answer, kind)
        reader = SseReader()

        def take(data: bytes) -> None:
            if self._is_over:
                return
            limit = self._take(reader, data, watch)
            if limit is not None and not answer.is_complete:
                watch.shorten(limit)

        await answer.pass_to(take)
        if not self._is_over:
            self._end_of_body(reader)

    def _take(self, reader: SseReader, data: bytes, watch: StallWatch) -> float | None:
        """Pass on what one network read brought; how long to wait for the rest, once it is known
        that there is only a rest."""
        saw = watch.saw_life
        waiting = reader.unread()
        if waiting is not None:
            text, data = self._slot.cut(waiting + data if waiting else data)
            if text:
                saw = watch.saw_text
                self._on_text(text)
        if data:
            events = reader.feed(data)
            if events and not _is_ping(events):
                saw = watch.saw_text if self._hand_over(events) else watch.saw_event
        saw()
        if self._is_over:
            return DRAIN_SECONDS
        return None if self._last_event is None else AFTERMATH_SECONDS

    def _hand_over(self, events: list[NamedData]) -> bool:
        """Pass on what one network read brought, text in a row as one piece; whether it ended
        with text."""
        read_text, texts = self._slot.read, []
        for name, data in events:
            text = read_text(data)
            if text is not None:
                texts.append(text)
                continue
            if texts:
                self._on_text("".join(texts))
                texts.clear()
            self._hand_over_parsed(name, data)
            if self._is_over:
                return False
        if texts:
            self._on_text("".join(texts))
        return bool(texts)

    def _hand_over_parsed(self, name: str | None, data: bytes) -> None:
        if data == b"[DONE]":
            self._is_over = True
            return
        event = parsed_object(self._call, data)
        if name is not None:
            event.setdefault("type", name)
        self._on_event(event)
        if self._last_event is not None:
            return
        if self._wire.ends_answer(event):
            self._last_event = event
            self._is_over = not self._wire.more_may_follow
        elif self._on_text is not _ignore:
            self._slot.learn(data, event)

    def _end_of_body(self, reader: SseReader) -> None:
        """Fine after the last event, never fine before it."""
        says_done = any(data == b"[DONE]" for _, data in reader.rest())
        if self._last_event is None and not says_done:
            raise broken_off(self._call.host)

    async def _refuse_document(self, answer: Answer, kind: str) -> None:
        host = self._call.host
        if kind == "text/html":
            raise garbled(host, "a web page instead of an event stream; check base_url")
        parsed_object(self._call, await read_at_most(answer, LARGEST_ERROR))
        raise garbled(host, "no stream: streaming is not supported there")


def _is_ping(events: list[NamedData]) -> bool:
    """Anthropic's sign of life, which is an event of its own."""
    return len(events) == 1 and events[0][0] == "ping"


def _ignore(_event: object) -> None:
    return
