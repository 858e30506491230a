"""What is done to every request: CORS, security headers, error envelopes, request ids."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from hermes.core.errors import Forbidden
from hermes.core.ids import new_id
from hermes.server.answers import error_answer, from_framework
from hermes.server.seams import Seams
from hermes.settings.model import ListenerSettings

log = logging.getLogger("hermes.server.requests")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CORS_HEADERS = {
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, X-Hermes-Session-Id, X-Hermes-Session-Key, "
        "X-Hermes-Tool-Form, X-Hermes-Reasoning, X-Hermes-Strict, X-Hermes-Disconnect, "
        "X-Hermes-When-Busy, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version"
    ),
    "Access-Control-Expose-Headers": (
        "X-Request-Id, X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Completed, "
        "X-Hermes-Partial, X-Hermes-Model, X-Hermes-Ignored-Params, X-Hermes-Run-Id, "
        "Idempotency-Replayed, Retry-After, Mcp-Session-Id"
    ),
}

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-XSS-Protection": "0",
    "Referrer-Policy": "no-referrer",
}

REQUEST_ID_HEADER = "X-Request-Id"
REQUEST_ID = web.RequestKey("request_id", str)
PREFLIGHT_SECONDS = "600"


def is_origin_allowed(origin: str, allowed: tuple[str, ...]) -> bool:
    """A request without an origin does not come from a web page."""
    return not origin or "*" in allowed or origin in allowed


def cors_headers(origin: str, allowed: tuple[str, ...]) -> dict[str, str] | None:
    """The headers that let a page of this origin read the answer; None when it may not."""
    if not origin or not is_origin_allowed(origin, allowed):
        return None
    return {**CORS_HEADERS, "Access-Control-Allow-Origin": origin, "Vary": "Origin"}


async def apply_cors(request: web.Request, handler: Handler, seams: Seams) -> web.StreamResponse:
    """Refuse pages of other origins, answer preflights, let allowed pages read the answer."""
    origin = request.headers.get("Origin", "")
    if not origin:
        return await handler(request)
    headers = seams.cors_headers(origin)
    if headers is None:
        return error_answer(
            Forbidden(
                f"Origin {origin[:200]!r} is not allowed; add it to API_SERVER_CORS_ORIGINS.",
                code="origin_not_allowed",
            )
        )
    if request.method == "OPTIONS":
        return web.Response(headers={**headers, "Access-Control-Max-Age": PREFLIGHT_SECONDS})
    try:
        response = await handler(request)
    except web.HTTPException as error:
        # Answered here already: an allowed page may read why its request was refused.
        response = error_answer(from_framework(error))
    if not response.prepared:
        response.headers.update(headers)
    return response


async def add_security_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    if not response.prepared:
        response.headers.update(SECURITY_HEADERS)
    return response


async def stamp(request: web.Request, response: web.StreamResponse) -> None:
    """Headers of every response of a served gateway, streams included (an `on_prepare` signal)."""
    response.headers.update(SECURITY_HEADERS)
    # The framework refuses some requests (an unknown `Expect`) before `front` has seen them.
    response.headers[REQUEST_ID_HEADER] = request.get(REQUEST_ID) or new_id("req_")


def front(seams: Seams, admits_host: Callable[[str], bool]) -> Any:
    """The one layer around every handler of a served gateway.

    It gives the request its id, refuses foreign hosts and pages, answers in the documented
    envelope where the framework itself refuses, and logs. One layer, because each costs as much
    as a part of the answer.
    """

    @web.middleware
    async def layer(request: web.Request, handler: Handler) -> web.StreamResponse:
        started = time.perf_counter()
        request[REQUEST_ID] = new_id("req_")
        host = _host_name(request.headers)
        try:
            if not admits_host(host):
                response: web.StreamResponse = error_answer(_foreign_host(host))
            elif "Origin" in request.headers:
                response = await apply_cors(request, handler, seams)
            else:
                response = await handler(request)
        except web.HTTPException as error:
            response = error_answer(from_framework(error))
        seams.meter.request_answered(*_counted_as(request), response.status)
        if log.isEnabledFor(logging.INFO):
            _log_request(request, response, started)
        return response

    return layer


def _counted_as(request: web.Request) -> tuple[str, str]:
    """Method and route. Of what is not served neither: callers can make up any number of them."""
    resource = request.match_info.route.resource
    return ("unknown", "unknown") if resource is None else (request.method, resource.canonical)


def _log_request(request: web.Request, response: web.StreamResponse, started: float) -> None:
    log.info(
        "request",
        extra={
            "method": request.method,
            "path": request.path,
            "status": response.status,
            "ms": round((time.perf_counter() - started) * 1000, 1),
            "request_id": request[REQUEST_ID],
        },
    )


def host_check(listener: ListenerSettings) -> Callable[[str], bool]:
    """Which `Host` a gateway answers to: with a key to any, without one to the machine's own.

    A web page can make its own domain resolve to 127.0.0.1; the `Host` header gives it away.
    """
    if listener.requires_key:
        return lambda _host: True
    names = {"localhost", "127.0.0.1", listener.host}
    return lambda host: host in names or _is_loopback(host)


def _foreign_host(host: str) -> Forbidden:
    return Forbidden(
        f"Host {host[:200]!r} is not served without a key: call 127.0.0.1 or localhost, "
        "or start the gateway with a key (API_SERVER_KEY).",
        code="host_not_allowed",
    )


def _host_name(headers: Mapping[str, str]) -> str:
    host = headers.get("Host", "")
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
