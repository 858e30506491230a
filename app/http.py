"""The few lines of Starlette around `hermes.backends.bridge`: routes, bodies, JSON, disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hermes.backends import bridge
from hermes.backends.bridge import BridgeAnswer, Seams
from hermes.core.errors import ApiError, BodyTooLarge

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as missing:
    need = "The bridge needs Starlette; install it with: pip install 'hermes-gateway[bridge]'"
    raise ModuleNotFoundError(need, name=missing.name) from missing

Handler = Callable[[Request, Seams], Awaitable[BridgeAnswer]]

SERVED = "POST /v1/chat/completions, GET /v1/models, GET /health"


def build(seams: Callable[[], Seams]) -> Starlette:
    """The ASGI application; `seams` is asked anew for every request."""
    application = Starlette(
        routes=[
            Route("/health", _endpoint(_health, seams), methods=["GET"]),
            Route("/v1/models", _endpoint(_models, seams), methods=["GET"]),
            Route("/v1/chat/completions", _endpoint(_chat, seams), methods=["POST"]),
        ],
        exception_handlers={
            ApiError: _refuse,
            HTTPException: _not_served,
            ClientDisconnect: _nobody_listens,
            Exception: _broken,
        },
    )
    # A client would follow the redirect without its body, and be puzzled by the answer.
    application.router.redirect_slashes = False
    return application


def _endpoint(
    handler: Handler, seams: Callable[[], Seams]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return _json(await handler(request, seams()))

    return endpoint


async def _health(request: Request, seams: Seams) -> BridgeAnswer:
    return bridge.health(seams)


async def _models(request: Request, seams: Seams) -> BridgeAnswer:
    bridge.admit(request.headers.get("authorization"), seams)
    return bridge.models()


async def _chat(request: Request, seams: Seams) -> BridgeAnswer:
    bridge.admit(request.headers.get("authorization"), seams)
    body = await _body(request)
    return await _while_connected(request, bridge.answer(body, seams))


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > bridge.MAX_BODY_BYTES:
            detail = f"send at most {bridge.MAX_BODY_BYTES} bytes"
            raise BodyTooLarge("request too large", extra={"detail": detail})
    return bytes(body)


async def _while_connected(
    request: Request, work: Coroutine[Any, Any, BridgeAnswer]
) -> BridgeAnswer:
    """The result of `work`, which is cancelled, and awaited, as soon as the client is gone."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return _json(bridge.refusal(error))


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
