"""GET /openapi.json: the description of everything that is served, written when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import orjson
from aiohttp import web

from hermes.server.dispatch import Handler
from hermes.server.seams import Seams
from hermes.wire.openapi import Operation
from hermes.wire.openapi import document as openapi_document


def describing(operations: Callable[[], Iterable[Operation]]) -> Handler:
    """A handler that answers with the document; the operations are asked for once."""

    @cache
    def written() -> bytes:
        return orjson.dumps(openapi_document(operations()))

    async def document(_request: web.Request, _seams: Seams) -> web.StreamResponse:
        return web.Response(body=written(), content_type="application/json")

    return document
