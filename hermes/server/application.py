"""The aiohttp application of a gateway: every route of the table, behind one layer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from hermes.server.dispatch import dispatch, dispatch_public
from hermes.server.middleware import front, host_check, stamp
from hermes.server.route import Route
from hermes.server.routes import ROUTES
from hermes.server.seams import Seams
from hermes.settings.model import ListenerSettings


def build_application(seams: Seams, listener: ListenerSettings) -> web.Application:
    application = web.Application(
        middlewares=[front(seams, host_check(listener))],
        client_max_size=listener.max_body_bytes,
    )
    application.on_response_prepare.append(stamp)
    application.on_shutdown.append(lambda _application: seams.mcp.close())
    for route in ROUTES:
        handler = _bound(route, seams)
        application.router.add_route(route.method, route.path, handler)
        if route.method == "GET":  # some load balancers ask with HEAD
            application.router.add_route("HEAD", route.path, handler)
    return application


def _bound(route: Route, seams: Seams) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    enter = dispatch_public if route.is_public else dispatch

    async def handle(request: web.Request) -> web.StreamResponse:
        return await enter(route.handler, request, seams)

    return handle
