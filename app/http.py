"""The few lines of Starlette around the bridge: routes, bodies, JSON, streams, disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from hermes.backends.bridge.answers import BridgeAnswer, refusal
from hermes.backends.bridge.chat import ChatRequest
from hermes.backends.bridge.service import MAX_BODY_BYTES, Bridge
from hermes.core.errors import ApiError, BodyTooLarge

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import Receive, Scope, Send
except ModuleNotFoundError as missing:
    need = "The bridge needs Starlette; install it with: pip install 'hermes-gateway[bridge]'"
    raise ModuleNotFoundError(need, name=missing.name) from missing

SERVED = "POST /v1/chat/completions, GET /v1/models, POST /execute, GET /jobs/{id}, GET /health"

T = TypeVar("T")


def build(bridge: Bridge) -> Starlette:
    """The ASGI application; the bridge's jobs end with it."""
    doors = _Doors(bridge)

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        await bridge.open()
        try:
            yield
        finally:
            await bridge.close()

    application = Starlette(
        routes=[
            Route("/health", doors.health, methods=["GET"]),
            Route("/v1/models", doors.models, methods=["GET"]),
            Route("/v1/chat/completions", doors.chat, methods=["POST"]),
            Route("/execute", doors.execute, methods=["POST"]),
            Route("/jobs/{job_id}", doors.job, methods=["GET"]),
        ],
        exception_handlers={
            ApiError: _refuse,
            HTTPException: _not_served,
            ClientDisconnect: _nobody_listens,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    # A client would follow the redirect without its body, and be puzzled by the answer.
    application.router.redirect_slashes = False
    return application


class _Doors:
    """What is served. Nothing of a request is read before its caller is known."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def health(self, request: Request) -> Response:
        return _json(self._bridge.health())

    async def models(self, request: Request) -> Response:
        self._admit(request)
        return _json(self._bridge.models())

    async def chat(self, request: Request) -> Response:
        self._admit(request)
        asked = self._bridge.read_chat(await _body(request))
        if asked.wants_stream:
            return _ChatStream(self._bridge, asked)
        return _json(await _while_connected(request.receive, self._bridge.answer_chat(asked)))

    async def execute(self, request: Request) -> Response:
        self._admit(request)
        return _json(await self._bridge.execute(await _body(request)))

    async def job(self, request: Request) -> Response:
        self._admit(request)
        return _json(self._bridge.job(request.path_params["job_id"]))

    def _admit(self, request: Request) -> None:
        self._bridge.admit(request.headers.get("authorization"))


class _ChatStream(Response):
    """Sends an answer while it is written; what fails before it begins is answered as ever."""

    media_type = "text/event-stream"

    def __init__(self, bridge: Bridge, asked: ChatRequest) -> None:
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._bridge = bridge
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def write(data: bytes) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                head = {"status": self.status_code, "headers": self.raw_headers}
                await send({"type": "http.response.start", **head})
            await send({"type": "http.response.body", "body": data, "more_body": True})

        await _while_connected(receive, self._bridge.stream_chat(self._asked, write))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            detail = f"send at most {MAX_BODY_BYTES} bytes"
            raise BodyTooLarge("request too large", extra={"detail": detail})
    return bytes(body)


async def _while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled, and awaited, as soon as the client is gone."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return _json(refusal(error))


async def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = f"{request.method} {request.url.path} is not served here; try {SERVED}"
    body = {"error": error.detail.lower(), "detail": detail}
    return _json(BridgeAnswer(error.status_code, body, error.headers or {}))


async def _nobody_listens(request: Request, error: Exception) -> Response:
    return Response(status_code=499)


async def _broken(request: Request, error: Exception) -> Response:
    detail = "this is a fault of the bridge; its log has the trace"
    return _json(BridgeAnswer(500, {"error": "internal error", "detail": detail}))


def _json(answer: BridgeAnswer) -> Response:
    return JSONResponse(answer.body, answer.status, dict(answer.headers))
