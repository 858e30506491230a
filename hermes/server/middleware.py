"""What is done to every request: CORS, security headers, error envelopes, request ids."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from hermes.core.errors import Forbidden
from hermes.core.ids import new_id
from hermes.server.answers import error_answer, from_framework
from hermes.server.seams import Seams

log = logging.getLogger("hermes.server.requests")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CORS_HEADERS = {
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, X-Hermes-Session-Id, X-Hermes-Session-Key"
    ),
    "Access-Control-Expose-Headers": (
        "X-Request-Id, X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Completed, "
        "X-Hermes-Partial"
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
REQUEST_ID = "request_id"
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
    response = await handler(request)
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
    response.headers[REQUEST_ID_HEADER] = request[REQUEST_ID]


@web.middleware
async def identify(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The outermost layer: every request has an id, an envelope for its errors and a log line."""
    started = time.perf_counter()
    request[REQUEST_ID] = new_id("req_")
    try:
        response = await handler(request)
    except web.HTTPException as error:
        response = error_answer(from_framework(error))
    if log.isEnabledFor(logging.INFO):
        _log_request(request, response, started)
    return response


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


def refuse_foreign_hosts(
    bound_host: str,
) -> Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]:
    """A guard for a gateway without a key: it answers only to the machine's own names.

    A web page can make its own domain resolve to 127.0.0.1; the `Host` header gives it away.
    """
    names = {"localhost", bound_host}

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = _host_name(request.headers)
        if host in names or _is_loopback(host):
            return await handler(request)
        return error_answer(
            Forbidden(
                f"Host {host[:200]!r} is not served without a key: call 127.0.0.1 or localhost, "
                "or start the gateway with a key (API_SERVER_KEY).",
                code="host_not_allowed",
            )
        )

    return guard


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
