"""Whole sessions as JSON: out of one gateway, into another."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hermes.core.errors import Conflict
from hermes.core.ids import new_id
from hermes.core.ports import SessionStore
from hermes.server.answers import json_answer
from hermes.server.kept_answers import created_once
from hermes.server.seams import Seams
from hermes.server.session_store import existing, in_store
from hermes.server.turns import read_body
from hermes.wire.lenient import boolean
from hermes.wire.session_transfer import export_document, export_text, file_name, parse_import
from hermes.wire.sessions import session_envelope


async def export(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]

    def read(store: SessionStore) -> str:
        session = existing(store, session_id)
        return export_text(export_document(session, store.get_messages(session_id)))

    return web.Response(
        text=await in_store(seams, read),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{file_name(session_id)}"'},
    )


@created_once
async def import_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    keeps_id = boolean(request.query, "keep_id", False)
    old_id, head, messages = parse_import(await read_body(request))
    session_id = old_id if keeps_id else new_id("session-")

    def keep(store: SessionStore) -> dict[str, Any]:
        if not store.import_session(session_id, head, messages):
            raise Conflict(
                f"There is a session '{session_id[:100]}' already; import it without keep_id, or "
                "delete the other one first.",
                code="session_exists",
                param="keep_id",
            )
        return existing(store, session_id)

    return json_answer(session_envelope(await in_store(seams, keep)), status=201)
