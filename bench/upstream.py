"""A model provider that costs almost nothing: every byte it ever sends is prepared beforehand.

Each token is an SSE event of its own, sent in a write of its own; `bench.answers` explains the
names of the models.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import orjson
import uvloop

from bench.answers import Script
from bench.tool_calls import completion, is_calling

_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """One model's answer as bytes: `events` are HTTP chunks, one per write."""

    interval: float
    opening: bytes
    events: tuple[bytes, ...]
    closing: bytes
    closing_with_usage: bytes
    plain: bytes


@cache
def prepare(model: str) -> Prepared:
    script = Script.of_model(model)
    finish = _event(model, {}, finish_reason="stop")
    usage = {"prompt_tokens": 10, "completion_tokens": script.tokens}
    usage["total_tokens"] = sum(usage.values())
    end = _http_chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    return Prepared(
        interval=script.interval,
        opening=_STREAM_HEAD + _event(model, {"role": "assistant", "content": ""}),
        events=tuple(_event(model, {"content": piece}) for piece in script.pieces),
        closing=finish + end,
        closing_with_usage=finish + _sse(_chunk(model) | {"usage": usage}) + end,
        plain=_json_answer(_completion(model, script.text, usage)),
    )


def _chunk(model: str) -> dict[str, Any]:
    head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_700_000_000}
    return head | {"model": model, "choices": []}


def _event(model: str, delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _sse(_chunk(model) | {"choices": [choice]})


def _sse(payload: dict[str, Any]) -> bytes:
    return _http_chunk(b"data: " + orjson.dumps(payload) + b"\n\n")


def _http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _completion(model: str, text: str, usage: dict[str, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    head = {"id": "chatcmpl-bench", "object": "chat.completion", "created": 1_700_000_000}
    return head | {"model": model, "choices": [choice], "usage": usage}


def _json_answer(payload: dict[str, Any], status: bytes = b"200 OK") -> bytes:
    body = orjson.dumps(payload)
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


class Upstream(asyncio.Protocol):
    """One keep-alive connection: reads a request with a Content-Length, answers, reads the next."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, but not the base class.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._received += data
        head_end = self._received.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = bytes(self._received[:head_end]).lower()
        body_end = head_end + 4 + _content_length(head)
        if len(self._received) < body_end:
            return
        body = bytes(self._received[head_end + 4 : body_end])
        del self._received[:body_end]
        self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"post "):
            self._write(_json_answer({"object": "list", "data": []}))
            return
        try:
            request = orjson.loads(body)
            if is_calling(request["model"]):
                self._write(_json_answer(completion(request)))
                return
            prepared = prepare(request["model"])
        except (ValueError, KeyError) as problem:
            self._write(_json_answer({"error": {"message": str(problem)}}, b"400 Bad Request"))
            return
        if request.get("stream"):
            self._begin_stream(prepared, bool(request.get("stream_options")))
        else:
            self._write(prepared.plain)

    def _begin_stream(self, prepared: Prepared, wants_usage: bool) -> None:
        self._write(prepared.opening)
        self._continue_stream(prepared, wants_usage, 0, self._loop.time())

    def _continue_stream(
        self, prepared: Prepared, wants_usage: bool, position: int, started: float
    ) -> None:
        if position == len(prepared.events):
            self._write(prepared.closing_with_usage if wants_usage else prepared.closing)
            return
        self._write(prepared.events[position])
        rest = (prepared, wants_usage, position + 1, started)
        if prepared.interval and position + 1 < len(prepared.events):
            due = started + (position + 1) * prepared.interval
            self._loop.call_at(due, self._continue_stream, *rest)
        else:
            # One token per turn of the loop: uvloop would join writes of the same turn into one.
            self._loop.call_soon(self._continue_stream, *rest)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def _content_length(head: bytes) -> int:
    _, found, rest = head.partition(b"content-length:")
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Upstream(loop), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.upstream", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
