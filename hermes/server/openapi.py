"""GET /openapi.json: the description of everything that is served, written when first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache

import orjson
from aiohttp import web

from hermes.server.dispatch import Handler
from hermes.server.route import Route
from hermes.server.seams import Seams


def describing(routes: Callable[[], Iterable[Route]]) -> Handler:
    """A handler that answers with the document; the routes are asked for once."""

    @cache
    def written() -> bytes:
        # The schemas take a good part of a cold start, and hardly anybody asks for them.
        described_routes = importlib.import_module("hermes.server.described_routes")
        return orjson.dumps(described_routes.document_of(routes()))

    async def document(_request: web.Request, seams: Seams) -> web.StreamResponse:
        body = await seams.storage.run(written)
        return web.Response(body=body, content_type="application/json")

    return document
