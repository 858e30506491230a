"""The cheapest client that still reads HTTP/1.1 honestly: one request at a time on one connection.

While an answer arrives it is only collected and timed; it is taken apart after the clock stopped.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import orjson

_FIRST_TOKEN = re.compile(rb'"content": ?"[^"]')
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_LAST_ANSWER = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its raw answer; times are seconds of `perf_counter`."""

    started: float
    first_token: float | None
    finished: float
    raw: bytes
    problem: str | None = None

    @property
    def seconds(self) -> float:
        return self.finished - self.started

    @property
    def seconds_to_first_token(self) -> float:
        return (self.first_token or self.finished) - self.started


class Connection(asyncio.Protocol):
    """A keep-alive connection; `exchange` resolves when the answer is complete or the line cut."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Exchange] | None = None
        self._forget()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def exchange(self, request: bytes) -> asyncio.Future[Exchange]:
        assert self._transport is not None
        answer = self.begin()
        self._transport.write(request)
        return answer

    def begin(self) -> asyncio.Future[Exchange]:
        """Start the clock and expect an answer."""
        self._forget()
        self._answer = self._loop.create_future()
        return self._answer

    def give_up(self, problem: str) -> None:
        """End a running exchange with `problem` and close the line."""
        self._finish(problem)
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, but not the base class.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._finish("the server closed the connection in the middle of an answer")

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._first_token is None:
            self._look_for_first_token()
        if self._is_complete():
            self._finish(None)
            if self._is_last and self._transport is not None:
                self._transport.close()

    def _forget(self) -> None:
        self._received = bytearray()
        self._searched = 0
        self._first_token: float | None = None
        self._length: int | None = None
        self._body_start = 0
        self._is_last = False
        self._started = perf_counter()

    def _look_for_first_token(self) -> None:
        if _FIRST_TOKEN.search(self._received, self._searched):
            self._first_token = perf_counter()
        self._searched = max(0, len(self._received) - 16)

    def _is_complete(self) -> bool:
        if not self._body_start and not self._read_head():
            return False
        if self._length is not None:
            return len(self._received) >= self._length
        # No payload of ours contains a carriage return, so only the last chunk can end like this.
        return self._received.endswith(b"0\r\n\r\n", self._body_start)

    def _read_head(self) -> bool:
        head_end = self._received.find(b"\r\n\r\n")
        if head_end < 0:
            return False
        self._body_start = head_end + 4
        match = _LENGTH.search(self._received, 0, head_end)
        self._length = self._body_start + int(match[1]) if match else None
        self._is_last = _LAST_ANSWER.search(self._received, 0, head_end) is not None
        return True

    def _finish(self, problem: str | None) -> None:
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            return
        now = perf_counter()
        raw = bytes(self._received)
        answer.set_result(Exchange(self._started, self._first_token, now, raw, problem))


async def connect(port: int) -> Connection:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: Connection(loop), "127.0.0.1", port)
    return connection


def post(path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    """A request with a JSON body, ready to be sent."""
    payload = orjson.dumps(body)
    named = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "Content-Length": len(payload),
        **headers,
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "\r\n"]).encode() + payload


def take_apart(raw: bytes) -> tuple[int, bytes]:
    """The status and the body of a complete raw answer; ValueError when it is none."""
    head, _, rest = raw.partition(b"\r\n\r\n")
    status = _STATUS.match(head)
    if status is None:
        raise ValueError("no HTTP/1.1 status line")
    return int(status[1]), _join_chunks(rest) if _CHUNKED.search(head) else rest


def _join_chunks(data: bytes) -> bytes:
    parts: list[bytes] = []
    position = 0
    while True:
        line_end = data.index(b"\r\n", position)
        size = int(data[position:line_end].split(b";", 1)[0], 16)
        if size == 0:
            return b"".join(parts)
        parts.append(data[line_end + 2 : line_end + 2 + size])
        position = line_end + 2 + size + 2
