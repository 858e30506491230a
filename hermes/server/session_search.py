"""GET /api/sessions/search: what was said, found again."""

from __future__ import annotations

from aiohttp import web

from hermes.core.errors import Unavailable
from hermes.server.answers import json_answer
from hermes.server.seams import Seams
from hermes.server.session_store import in_store
from hermes.wire.session_search import parse_search, search_answer


async def search(request: web.Request, seams: Seams) -> web.StreamResponse:
    asked = parse_search(request.query)
    page = await in_store(
        seams,
        lambda store: store.search(asked.words, limit=asked.limit, offset=asked.offset),
    )
    if page is None:
        raise Unavailable(
            "Sessions cannot be searched: this Python's SQLite has no FTS5. `hermes doctor` shows "
            "it; use a Python whose SQLite has it.",
            code="search_unavailable",
        )
    return json_answer(search_answer(asked, page))
