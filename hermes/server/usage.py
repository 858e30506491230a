"""GET /v1/usage: what the key that asks has used, and what is left for it."""

from __future__ import annotations

from functools import partial

from aiohttp import web

from hermes.server.answers import json_answer
from hermes.server.seams import Seams
from hermes.wire.usage import parse_days, usage_object


async def get_usage(request: web.Request, seams: Seams) -> web.StreamResponse:
    days = parse_days(request.query)
    caller = seams.read_caller(request)
    statement = await seams.storage.run(
        partial(seams.accounting.statement, caller.owner, caller.session_id, most_days=days)
    )
    return json_answer(usage_object(statement))
