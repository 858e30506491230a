"""/api/sessions: sessions and their messages, and forks."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hermes.core.errors import NotFound
from hermes.core.ids import new_id
from hermes.core.ports import SessionStore
from hermes.core.run_ports import RunStore
from hermes.core.runs import Run, RunStatus
from hermes.server.answers import json_answer
from hermes.server.deeds import sweep_deeds
from hermes.server.kept_answers import created_once
from hermes.server.seams import Seams
from hermes.server.session_store import existing as _existing
from hermes.server.session_store import in_store as _in_store
from hermes.server.session_store import unknown_session
from hermes.server.turns import read_body, read_optional_body
from hermes.wire import sessions as wire

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
    await _in_store(seams, lambda store: _existing(store, session_id))
    await _stop_runs(seams, session_id)

    def delete(store: SessionStore) -> bool:
        _existing(store, session_id)
        # The logs first: whoever repeats a deletion that failed must still find the session.
        seams.runs_store().delete_session(session_id)
        seams.forget_session(session_id)
        return store.delete_session(session_id)

    if not await _in_store(seams, delete):
        raise unknown_session(session_id)
    await sweep_deeds(seams)
    return json_answer(wire.session_deleted(session_id))


async def _stop_runs(seams: Seams, session_id: str) -> None:
    """Whoever is at work in a session, or waits for it, would write into what is deleted."""

    def of_session(store: RunStore) -> list[Run]:
        queued = store.unfinished(RunStatus.QUEUED)
        active = store.active(session_id)
        waiting = [run for run in queued if run.session_id == session_id]
        return waiting if active is None else [*waiting, active]

    for run in await seams.runs.in_store(of_session):
        await seams.runs.stop(run.id)


async def list_messages(request: web.Request, seams: Seams) -> web.StreamResponse:
    session_id = request.match_info["session_id"]
    wanted = wire.parse_message_query(request.query)

    def read(store: SessionStore) -> dict[str, Any]:
        _existing(store, session_id)
        if wanted is None:
            return wire.message_list(session_id, store.get_messages(session_id))
        return wire.message_page(session_id, store.page_messages(session_id, wanted))

    return json_answer(await _in_store(seams, read))


async def list_todos(request: web.Request, seams: Seams) -> web.StreamResponse:
    """The list that the agent plans the session's work with."""
    session_id = request.match_info["session_id"]

    def read(store: SessionStore) -> dict[str, Any]:
        _existing(store, session_id)
        return wire.todo_list(session_id, store.get_todos(session_id))

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
