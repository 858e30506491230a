"""A provider on a real socket whose answers a test writes, and what a test needs to ask it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

from hermes.providers.base import Dialect
from hermes.providers.clients import Endpoint, HttpClients
from hermes.providers.reply import Reply, ReplyBuilder
from hermes.providers.streams import CancelScope, consume

KEY = "key-that-must-stay-secret-123"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Loopback:
    """Where the server listens, what it was asked and over how many connections."""

    def __init__(self) -> None:
        self.base_url = ""
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.connections: set[Any] = set()


@asynccontextmanager
async def provider(handler: Handler) -> AsyncIterator[Loopback]:
    loopback = Loopback()

    async def answer(request: web.Request) -> web.StreamResponse:
        loopback.bodies.append(orjson.loads(await request.read()))
        loopback.headers.append({key.lower(): value for key, value in request.headers.items()})
        loopback.paths.append(request.path)
        loopback.connections.add(request.transport)
        return await handler(request)

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    loopback.base_url = str(server.make_url("/v1"))
    try:
        yield loopback
    finally:
        await server.close()


def sse(events: Iterable[Any], *, done: bool = False, named: bool = False) -> bytes:
    """Events as a provider would write them."""
    frames = []
    for event in events:
        name = b"event: " + event["type"].encode() + b"\n" if named else b""
        frames.append(name + b"data: " + orjson.dumps(event) + b"\n\n")
    return b"".join(frames) + (b"data: [DONE]\n\n" if done else b"")


def streaming(*writes: bytes) -> Handler:
    """A handler that sends these writes one by one and ends properly."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        for data in writes:
            await response.write(data)
        await response.write_eof()
        return response

    return handler


async def started(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


def endpoint(loopback: Loopback, api_mode: str, **more: Any) -> Endpoint:
    return Endpoint(base_url=loopback.base_url, api_key=KEY, api_mode=api_mode, **more)


@asynccontextmanager
async def pooled_clients() -> AsyncIterator[HttpClients]:
    clients = HttpClients(asyncio.get_running_loop())
    try:
        yield clients
    finally:
        await clients.close()


async def ask(
    clients: HttpClients,
    where: Endpoint,
    dialect: Dialect,
    *,
    builder: ReplyBuilder | None = None,
    scope: CancelScope | None = None,
    model: str = "m",
    takes_text: bool = False,
) -> Reply:
    """One streamed call from an agent thread, as the agent makes it.

    With `takes_text` text that comes alone is cut out of its events.
    """
    into = builder or quiet_builder()

    def call() -> Reply:
        stream = dialect.open(clients.client(where), {"model": model})
        final = consume(
            stream,
            lambda event: dialect.feed(event, into),
            on_text=into.add_text if takes_text else None,
            cancel=scope or CancelScope(),
        )
        dialect.finish(final, into)
        return into.build()

    return await asyncio.to_thread(call)


async def ask_whole(clients: HttpClients, where: Endpoint, dialect: Dialect) -> Reply:
    into = quiet_builder()
    answer = await asyncio.to_thread(dialect.create, clients.client(where), {"model": "m"})
    dialect.read_whole(answer, into)
    return into.build()


def quiet_builder() -> ReplyBuilder:
    return ReplyBuilder(on_text=lambda _: None, on_reasoning=lambda _: None)
