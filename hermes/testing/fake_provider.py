"""A model provider on a real loopback socket that says what a model for tests tells it to say.

It speaks chat completions, responses and Anthropic's messages, and breaks off when told to. As a
program of its own: `python -m hermes.testing.fake_provider --port 9000 --tokens 100`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import socket
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any, Self

import orjson
from aiohttp import web

from hermes.testing.dialect import GARBAGE, Frame, Speaker
from hermes.testing.dialect_anthropic import AnthropicSpeaker
from hermes.testing.dialect_chat import ChatSpeaker
from hermes.testing.dialect_responses import ResponsesSpeaker
from hermes.testing.replies import Answer, Broken, HttpError, answer_of
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import Model, ScriptExhausted, StreamOf

try:
    from uvloop import new_event_loop as _new_event_loop
except ImportError:  # not made for every platform
    from asyncio import new_event_loop as _new_event_loop  # type: ignore[assignment]

_BROKE = "The provider broke off, as its script says."
_LARGEST_REQUEST = 64 * 1024 * 1024
_BYTES_PER_TOKEN = 4

_TIME_TO_READ = 0.05
"""Seconds before a reset: many clients throw away what they have not read when one arrives."""


class FakeProvider:
    """An `async with` block in which `base_url` answers. Use it from the loop that entered it."""

    def __init__(self, model: Model, *, port: int = 0) -> None:
        self.requests_seen = 0
        """How many requests have arrived in full."""
        self.disconnects = 0
        """How many clients left before their answer was complete."""
        self._model = model
        self._port = port
        self._peers: set[Any] = set()
        self._closing = asyncio.Event()
        self._news = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_LARGEST_REQUEST)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._route("chat", ChatSpeaker))
        app.router.add_post("/v1/responses", self._route("responses", ResponsesSpeaker))
        app.router.add_post("/v1/messages", self._route("anthropic", AnthropicSpeaker))
        # With handler cancellation a client that leaves is noticed even while nothing is written.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def origin(self) -> str:
        """What Anthropic's clients call the base URL."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What OpenAI's clients call the base URL."""
        return f"{self.origin}/v1"

    @property
    def open_connections(self) -> int:
        server = self._runner.server if self._runner else None
        return len(server.connections) if server else 0

    @property
    def connections_made(self) -> int:
        """How many different connections have carried a request."""
        return len(self._peers)

    async def wait_for_requests(self, count: int = 1, within: float = 5.0) -> None:
        """Return once `count` requests have arrived, or raise `TimeoutError`."""
        await self._wait_until(lambda: self.requests_seen >= count, within)

    async def wait_for_disconnects(self, count: int = 1, within: float = 1.0) -> None:
        """Return once `count` clients have left, or raise `TimeoutError`."""
        await self._wait_until(lambda: self.disconnects >= count, within)

    async def _wait_until(self, is_so: Callable[[], bool], within: float) -> None:
        async with asyncio.timeout(within):
            while not is_so():
                await self._news.wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _models(self, _: web.Request) -> web.Response:
        names = ("scripted", "tokens-100", "tokens-50-30ms")
        entry = {"object": "model", "created": 0, "owned_by": "hermes-testing"}
        data = [{"id": name, **entry} for name in names]
        return _json({"object": "list", "data": data})

    def _route(self, dialect: str, speaker: type[Speaker]) -> Callable[[web.Request], Any]:
        async def handle(http: web.Request) -> web.StreamResponse:
            raw = await http.read()
            async with self._watching(http):
                return await self._answer(http, speaker, self._request(http, dialect, raw))

        return handle

    @contextlib.asynccontextmanager
    async def _watching(self, http: web.Request) -> AsyncIterator[None]:
        """Counts the client as gone when its handler is cancelled or cannot write."""
        self.requests_seen += 1
        if http.transport is not None:
            self._peers.add(http.transport.get_extra_info("peername"))
        self._tell()
        try:
            yield
        except (asyncio.CancelledError, ConnectionResetError):
            if not self._closing.is_set():
                self.disconnects += 1
                self._tell()
            raise

    def _request(self, http: web.Request, dialect: str, raw: bytes) -> ModelRequest:
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise _refusal("The request body is not JSON.") from None
        if not isinstance(body, dict):
            raise _refusal("The request body is not a JSON object.")
        return ModelRequest(
            dialect=dialect,
            body=body,
            headers=dict(http.headers),
            number=self.requests_seen,
            input_tokens=max(1, len(raw) // _BYTES_PER_TOKEN),
        )

    async def _answer(
        self, http: web.Request, speaker: type[Speaker], request: ModelRequest
    ) -> web.StreamResponse:
        try:
            answer = answer_of(self._model.reply(request))
        except ScriptExhausted as exhausted:
            raise _refusal(str(exhausted)) from exhausted
        if isinstance(answer, HttpError):
            return _http_error(answer)
        spoken = speaker(answer, request)
        if request.wants_stream:
            return await self._stream(http, spoken, answer)
        return await self._whole(http, spoken, answer)

    async def _stream(
        self, http: web.Request, spoken: Speaker, answer: Answer
    ) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        broken = answer.broken
        if broken is not None and broken.how == "reset" and not answer.parts:
            return _reset(http, response)
        await response.prepare(http)
        await _send(response, _frames(spoken, is_whole=broken is None))
        if broken is not None:
            await self._break_off(http, response, spoken, broken)
        return response

    async def _break_off(
        self, http: web.Request, response: web.StreamResponse, spoken: Speaker, broken: Broken
    ) -> None:
        match broken.how:
            case "reset":
                await asyncio.sleep(_TIME_TO_READ)
                _reset(http, response)
            case "eof":
                await response.write_eof()
            case "stall":
                await self._closing.wait()
            case "garbage":
                await response.write(GARBAGE)
            case "error_event":
                await response.write(spoken.error(_BROKE))

    async def _whole(
        self, http: web.Request, spoken: Speaker, answer: Answer
    ) -> web.StreamResponse:
        await asyncio.sleep(answer.duration)
        if answer.broken is None:
            return _json(spoken.whole())
        match answer.broken.how:
            case "reset":
                return _reset(http, web.Response())
            case "stall":
                await self._closing.wait()
                return web.Response(status=503)
            case "eof":
                return web.Response(body=orjson.dumps(spoken.whole())[:-20])
            case "garbage":
                return web.Response(body=GARBAGE, content_type="application/json")
            case "error_event":
                return _json({"error": {"message": _BROKE, "type": "server_error"}}, status=500)


def _frames(spoken: Speaker, *, is_whole: bool) -> Iterator[Frame]:
    yield from spoken.begin()
    yield from spoken.deliver()
    if is_whole:
        yield from spoken.end()


async def _send(response: web.StreamResponse, frames: Iterator[Frame]) -> None:
    """Writes every frame on its own. Pauses add up from the start, so that slow writes do not."""
    due = time.monotonic()
    for pause, frame in frames:
        if pause:
            due += pause
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await response.write(frame)


def _reset(http: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Resets the connection, so that the client sees an error and not an end."""
    transport = http.transport
    if transport is not None:
        endpoint = transport.get_extra_info("socket")
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response


def _http_error(error: HttpError) -> web.Response:
    if isinstance(error.body, str):
        return web.Response(
            text=error.body, status=error.status, headers=error.headers, content_type="text/html"
        )
    response = _json(error.body, status=error.status)
    response.headers.update(error.headers)
    return response


def _refusal(message: str) -> web.HTTPBadRequest:
    body = orjson.dumps({"error": {"message": message, "type": "invalid_request_error"}})
    return web.HTTPBadRequest(text=body.decode(), content_type="application/json")


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


async def serve(model: Model, port: int) -> None:
    """Answer until the process is asked to stop (SIGINT, SIGTERM)."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for asked in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(asked, stopped.set)
    async with FakeProvider(model, port=port) as provider:
        sys.stdout.write(f"Fake provider on {provider.base_url}\n")
        sys.stdout.flush()
        await stopped.wait()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m hermes.testing.fake_provider",
        description="A model provider for tests and benchmarks. A request may ask for its own "
        "measure by the model's name: tokens-50-30ms, tokens-100.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--tokens", type=int, default=100, help="tokens in an answer")
    parser.add_argument("--interval", type=float, default=0.0, help="seconds between two tokens")
    options = parser.parse_args(arguments)
    model = StreamOf(options.tokens, interval=options.interval)
    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        runner.run(serve(model, options.port))


if __name__ == "__main__":
    main()
