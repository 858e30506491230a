"""The aiohttp application of a gateway: every route of the table, behind one layer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from hermes.backends.hosting.job_tokens import RelayDialect
from hermes.server.dispatch import dispatch, dispatch_public
from hermes.server.middleware import front, host_check, stamp
from hermes.server.relay import job_token, pass_on
from hermes.server.route import Route
from hermes.server.routes import ROUTES
from hermes.server.seams import Seams
from hermes.settings.model import ListenerSettings

Bound = Callable[[web.Request], Awaitable[web.StreamResponse]]


def build_application(seams: Seams, listener: ListenerSettings) -> web.Application:
    application = web.Application(
        middlewares=[front(seams, host_check(listener))],
        client_max_size=listener.max_body_bytes,
    )
    application.on_response_prepare.append(stamp)
    application.on_shutdown.append(lambda _application: seams.mcp.close())
    application.on_cleanup.append(lambda _application: seams.upstreams.close())
    for route in ROUTES:
        handler = _bound(route, seams)
        application.router.add_route(route.method, route.path, handler)
        if route.method == "GET":  # some load balancers ask with HEAD
            application.router.add_route("HEAD", route.path, handler)
    return application


def _bound(route: Route, seams: Seams) -> Bound:
    enter = dispatch_public if route.is_public else dispatch

    async def handle(request: web.Request) -> web.StreamResponse:
        return await enter(route.handler, request, seams)

    return handle if route.relays is None else _jobs_first(route.relays, handle, seams)


def _jobs_first(dialect: RelayDialect, handle: Bound, seams: Seams) -> Bound:
    """Requests with the token of a job are no requests to the gateway, nor judged by its keys."""

    async def handle_or_relay(request: web.Request) -> web.StreamResponse:
        token = job_token(request.headers)
        if token is None:
            return await handle(request)
        relay = partial(pass_on, dialect=dialect, token=token)
        return await dispatch_public(relay, request, seams)

    return handle_or_relay
