"""One request of aiohttp, answered by an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

Message = dict[str, Any]
AsgiApp = Callable[
    [dict[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

LEAVE_SECONDS = 1.0
_OURS = frozenset({"connection", "transfer-encoding", "date", "server"})
"""Headers that the server of the connection writes itself."""


class PlainRefusal(Exception):
    """The application refused in words that are not JSON, or in none."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


async def answer_with(
    app: AsgiApp,
    request: web.Request,
    body: bytes,
    *,
    scope: Mapping[str, Any],
    headers: Mapping[str, str],
) -> web.StreamResponse:
    """`scope` and `headers` are added to the request and to the answer.

    A client that leaves is told to the application, which gets a moment to end. Raises
    `PlainRefusal`.
    """
    exchange = _Exchange(request, body, headers)
    answering = asyncio.ensure_future(
        app({**_scope(request), **scope}, exchange.receive, exchange.send)
    )
    try:
        await asyncio.shield(answering)
    except asyncio.CancelledError:
        exchange.gone.set()
        await asyncio.wait([answering], timeout=LEAVE_SECONDS)
        raise
    finally:
        answering.cancel()
    if exchange.refused is not None:
        raise PlainRefusal(exchange.refused, exchange.words.decode(errors="replace"))
    return exchange.response


class _Exchange:
    def __init__(self, request: web.Request, body: bytes, headers: Mapping[str, str]) -> None:
        self._request = request
        self._body: bytes | None = body
        self._headers = headers
        self.gone = asyncio.Event()
        self.response: web.StreamResponse = web.Response(status=500)
        self.refused: int | None = None
        """The status of a refusal that is not JSON, which is not passed on."""
        self.words = b""

    async def receive(self) -> Message:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        try:
            await self._passed_on(message)
        except OSError:
            self.gone.set()

    async def _passed_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if message["status"] >= 400 and not _is_json(message):
                self.refused = message["status"]
                return
            self.response = web.StreamResponse(status=message["status"])
            for name, value in message.get("headers", ()):
                if name.decode("latin-1").lower() not in _OURS:
                    self.response.headers[name.decode("latin-1")] = value.decode("latin-1")
            self.response.headers.update(self._headers)
            await self.response.prepare(self._request)
            return
        if self.refused is not None:
            self.words += message.get("body", b"")
            return
        if message.get("body"):
            await self.response.write(message["body"])
        if not message.get("more_body"):
            await self.response.write_eof()


def _is_json(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"application/json")
        for name, value in start.get("headers", ())
    )


def _scope(request: web.Request) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.raw_path.partition("?")[0].encode(),
        "query_string": request.query_string.encode(),
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
    }
