"""/api/sessions: sessions and their messages, forks, and chats inside a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.errors import NotFound
from hermes.core.ids import new_id
from hermes.core.ports import SessionStore
from hermes.core.turn import Outcome, TurnCall, TurnParameters, TurnResult
from hermes.runs.turns import start_turn
from hermes.server.answers import json_answer
from hermes.server.attachments import settle_session_chat
from hermes.server.kept_answers import created_once
from hermes.server.routing import refuse_unseen_images, route_model
from hermes.server.seams import Seams
from hermes.server.session_store import existing as _existing
from hermes.server.session_store import in_store as _in_store
from hermes.server.session_store import unknown_session
from hermes.server.streaming import Stream, view_of, write_stream
from hermes.server.turns import (
    once,
    read_body,
    read_optional_body,
    run_to_end,
    session_headers,
    stream_headers,
)
from hermes.wire import sessions as wire
from hermes.wire.session_stream import SessionEncoder
from hermes.wire.turn_errors import turn_error

SOURCE = "api_server"


async def list_sessions(request: web.Request, seams: Seams) -> web.StreamResponse:
    page = wire.parse_page(request.query)
    rows, total = await _in_store(
        seams,
        lambda store: (
            store.list_sessions(limit=page.limit, offset=page.offset),
            store.count_sessions(),
        ),
    )
    return json_answer(wire.session_list(rows, page, total=total))


@created_once
async def create_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    asked = wire.parse_create(await read_body(request))

    def create(store: SessionStore) -> dict[str, Any]:
        session_id = new_id("session-")
        store.create_session(session_id, SOURCE, model=asked.model)
        if asked.title is not None:
            store.set_session_title(session_id, asked.title)
        return _existing(store, session_id)

    return json_answer(wire.session_envelope(await _in_store(seams, create)), status=201)


async def get_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]
    row = await _in_store(seams, lambda store: _existing(store, session_id))
    return json_answer(wire.session_envelope(row))


async def patch_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]
    asked = wire.parse_patch(await read_body(request))

    def rename(store: SessionStore) -> dict[str, Any]:
        _existing(store, session_id)
        store.set_session_title(session_id, asked.title)
        return _existing(store, session_id)

    return json_answer(wire.session_envelope(await _in_store(seams, rename)))


async def delete_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]

    def delete(store: SessionStore) -> bool:
        _existing(store, session_id)
        # The logs first: whoever repeats a deletion that failed must still find the session.
        seams.runs_store().delete_session(session_id)
        return store.delete_session(session_id)

    if not await _in_store(seams, delete):
        raise unknown_session(session_id)
    return json_answer(wire.session_deleted(session_id))


async def list_messages(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]
    wanted = wire.parse_message_query(request.query)

    def read(store: SessionStore) -> dict[str, Any]:
        _existing(store, session_id)
        if wanted is None:
            return wire.message_list(session_id, store.get_messages(session_id))
        return wire.message_page(session_id, store.page_messages(session_id, wanted))

    return json_answer(await _in_store(seams, read))


@created_once
async def fork_session(request: web.Request, seams: Seams) -> web.StreamResponse:
    source_id = request.match_info["session_id"]
    asked = wire.parse_fork(await read_optional_body(request))

    def fork(store: SessionStore) -> dict[str, Any]:
        _existing(store, source_id)
        return _existing(store, _forked(store, source_id, asked))

    return json_answer(wire.session_envelope(await _in_store(seams, fork)), status=201)


def _forked(store: SessionStore, source_id: str, asked: wire.SessionFork) -> str:
    fork_id = new_id("session-")
    if asked.up_to is None:
        return store.fork_session(source_id, fork_id, title=asked.title)
    if not store.has_message(source_id, asked.up_to):
        raise NotFound(
            f"The session has no message {asked.up_to}; GET its messages to see their ids.",
            code="message_not_found",
            param="message_id",
        )
    return store.fork_session(source_id, fork_id, title=asked.title, up_to=asked.up_to)


async def chat(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    call, said = await _turn_call(request, seams)

    async def compute() -> TurnResult:
        result = await run_to_end(seams, call)
        if result.outcome is Outcome.FAILED:
            raise turn_error(result)
        return result

    result = await once(request, seams, compute)
    session_id = result.session_id or str(call.session_id)
    return json_answer(
        wire.session_chat_completion(session_id, result),
        headers={**session_headers(session_id, call.session_key), **said},
    )


async def chat_stream(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    call, said = await _turn_call(request, seams)
    headers = {**session_headers(call.session_id, call.session_key), **said}
    encoder = SessionEncoder(
        run_id=new_id("run_"),
        session_id=str(call.session_id),
        message_id=new_id("msg_"),
        opening=call.opening,
        history=call.history,
    )
    view = view_of(start_turn(seams.run_turn, call))
    stream = Stream(
        encoder=encoder,
        opening=[encoder.opening()],
        keepalive=seams.keepalive_seconds(),
        headers=stream_headers(request, seams, headers),
    )
    return await write_stream(request, view, stream)


async def _turn_call(request: web.Request, seams: Seams) -> tuple[TurnCall, Mapping[str, str]]:
    """The turn, and the headers that say who answers it."""
    session_id = request.match_info["session_id"]
    caller = seams.read_caller(request)
    asked = await settle_session_chat(wire.parse_session_chat(await read_body(request)), seams)

    routed = route_model(seams, asked.model)

    def load(store: SessionStore) -> list[dict[str, Any]]:
        _existing(store, session_id)
        return store.get_messages_as_conversation(session_id)

    call = TurnCall(
        user_message=asked.user_message,
        history=await _in_store(seams, load),
        system_prompt=asked.system_prompt,
        session_id=session_id,
        session_key=caller.session_key,
        parameters=TurnParameters(persist=True, alias=routed.alias),
    )
    refuse_unseen_images(seams, routed.alias, [*call.history, *call.opening], param="message")
    return call, routed.headers
