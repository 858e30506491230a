"""One HTTP/1.1 connection to a provider: one write per request, its answer in as many reads.

What a read brings is handed on in the very callback that brought it: no task, no future and no
queue per token. That is why this is not aiohttp's client, which costs several times as much per
call and per token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import httptools

from hermes.providers.network_errors import broken_off, garbled, not_http

LARGEST_HEAD = 128 * 1024
MOST_UNREAD = 256 * 1024
"""Bytes of a body that nobody takes yet; more stays with the network."""

Sink = Callable[[bytes], None]
"""Takes what one network read brought. What it raises ends the answer."""


class Answer(Protocol):
    """A provider's answer, once its headers are there."""

    status: int
    headers: dict[str, str]
    """By lower-case name."""

    @property
    def is_complete(self) -> bool:
        """Whether the whole body has arrived."""

    async def pass_to(self, sink: Sink) -> None:
        """Hand the body over, read by read, to its end."""

    def release(self) -> None:
        """Give the connection back, or end it when there is something left on it."""


class Connection(asyncio.Protocol):
    """Carries one call at a time."""

    def __init__(
        self,
        host: str,
        *,
        on_free: Callable[[Connection], None],
        on_lost: Callable[[Connection], None],
    ) -> None:
        self.host = host
        self.idle_since = 0.0
        self.is_open = False
        self._on_free = on_free
        self._on_lost = on_lost
        self._answer: _Incoming | None = None
        self._parser = httptools.HttpResponseParser(self)
        # Answers of sloppy servers are understood; only who passes them on has to be strict.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    async def ask(self, request: bytes) -> Answer:
        """Send a request; returns when the headers of its answer are there."""
        if not self.is_open:
            raise broken_off(self.host)
        answer = self._answer = _Incoming(self)
        self._transport.write(request)
        try:
            await answer.changed()
        except BaseException:
            self.end()
            raise
        return answer

    def pause(self) -> None:
        self._transport.pause_reading()

    def resume(self) -> None:
        if self.is_open:
            self._transport.resume_reading()

    def free(self) -> None:
        """Ready for the next call."""
        self._answer = None
        self._on_free(self)

    def end(self) -> None:
        if self.is_open:
            self.is_open = False
            self._transport.abort()

    # --- what the event loop calls --------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  # of a stream
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:
            # Nobody asked: whatever this is, it must not be taken for the next answer.
            self.end()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            answer.fail(not_http(self.host))
            self.end()
        else:
            answer.was_fed(len(data))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self._answer is not None:
            self._answer.was_cut_off(in_order=error is None)
        self._on_lost(self)

    # --- what the parser calls ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._answer is not None and self._answer.is_complete:
            # More than was asked for; the answer is good, the connection is not.
            self._answer.leaves_connection_open = False

    def on_header(self, name: bytes, value: bytes) -> None:
        # Headers after the head are trailers, which say nothing to us.
        if self._answer is not None and not self._answer.status:
            self._answer.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        answer, status = self._answer, self._parser.get_status_code()
        if answer is None or answer.status:
            return
        if status < 200:  # "continue" and its like: the answer is still to come
            answer.headers.clear()
        else:
            answer.status = status

    def on_body(self, body: bytes) -> None:
        if self._answer is not None and not self._answer.is_complete:
            self._answer.unread.append(body)

    def on_message_complete(self) -> None:
        answer = self._answer
        if answer is not None and answer.status and not answer.is_complete:
            answer.is_complete = True
            answer.leaves_connection_open = self._parser.should_keep_alive()


class _Incoming:
    """The answer that a connection is receiving."""

    def __init__(self, connection: Connection) -> None:
        self.status = 0
        """Zero until the head is complete."""
        self.headers: dict[str, str] = {}
        self.is_complete = False
        self.leaves_connection_open = False
        self.unread: list[bytes] = []
        self._connection = connection
        self._size_of_head = 0
        self._is_paused = False
        self._sink: Sink | None = None
        self._failure: Exception | None = None
        self._change: asyncio.Future[None] | None = None

    async def changed(self) -> None:
        """Until the head is there, the body is complete, or neither will ever be."""
        self._change = asyncio.get_running_loop().create_future()
        await self._change

    async def pass_to(self, sink: Sink) -> None:
        self._sink = sink
        self._hand_over(sink)
        if self._is_paused:
            self._is_paused = False
            self._connection.resume()
        if self._failure is not None:
            raise self._failure
        if not self.is_complete:
            await self.changed()

    def release(self) -> None:
        self._sink = None
        if self.is_complete and self.leaves_connection_open:
            self._connection.free()
        else:
            self._connection.end()

    def was_fed(self, size: int) -> None:
        """The parser has read what the network brought."""
        if self._sink is not None:
            self._hand_over(self._sink)
            if self.is_complete:
                self._tell()
        elif self.status:
            self._hold()
            self._tell()
        else:
            self._refuse_endless_head(size)

    def was_cut_off(self, *, in_order: bool) -> None:
        """The connection is gone; for a body of unknown length that is its end."""
        if self.is_complete:
            return
        is_measured = "content-length" in self.headers or "transfer-encoding" in self.headers
        if in_order and self.status and not is_measured:
            self.is_complete = True
            self._tell()
        else:
            self.fail(broken_off(self._connection.host))

    def fail(self, error: Exception) -> None:
        self._sink = None
        self._failure = self._failure or error
        if self._change is not None and not self._change.done():
            self._change.set_exception(error)

    def _hand_over(self, sink: Sink) -> None:
        parts = self.unread
        if not parts:
            return
        self.unread = []
        try:
            sink(parts[0] if len(parts) == 1 else b"".join(parts))
        except Exception as error:  # noqa: BLE001  (raised again where the body is waited for)
            self.fail(error)

    def _hold(self) -> None:
        if not self._is_paused and sum(map(len, self.unread)) > MOST_UNREAD:
            self._is_paused = True
            self._connection.pause()

    def _refuse_endless_head(self, size: int) -> None:
        self._size_of_head += size
        if self._size_of_head > LARGEST_HEAD:
            self.fail(garbled(self._connection.host, "headers without an end"))
            self._connection.end()

    def _tell(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)
