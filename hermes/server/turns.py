"""Running a turn whose client waits for the whole answer, and what all turns have in common."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.errors import ApiError, InvalidRequest
from hermes.core.messages import Message
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.feed import Feed
from hermes.runs.turns import AgentRef
from hermes.server.auth import SESSION_ID_HEADER, SESSION_KEY_HEADER
from hermes.server.seams import Seams
from hermes.wire.body import parse_object

log = logging.getLogger(__name__)


async def read_body(request: web.Request) -> dict[str, Any]:
    return parse_object(await read_bytes(request))


async def read_optional_body(request: web.Request) -> dict[str, Any]:
    """No body at all is an empty one."""
    raw = await read_bytes(request)
    return parse_object(raw) if raw else {}


async def read_bytes(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError as error:
        raise InvalidRequest(
            "The request body cannot be read: its length, chunks or Content-Encoding are not what "
            "the headers say."
        ) from error


async def run_to_end(
    seams: Seams,
    call: TurnCall,
    agent_ref: AgentRef | None = None,
    feed: Feed | None = None,
) -> TurnResult:
    """The result of a turn nobody watches; an agent that raises becomes a 500 that says why."""
    try:
        return await seams.run_turn(call, feed, [None] if agent_ref is None else agent_ref)
    except ApiError:
        raise
    except Exception as error:  # an agent may raise anything
        log.exception("the agent raised")
        raise ApiError(f"The agent failed: {error}", code="agent_error") from error


async def stored_history(
    seams: Seams, session_id: str, *, without_run: str | None = None
) -> list[Message]:
    """A session's messages; none when the store cannot be read, because an answer matters more.

    `without_run` leaves those out that a run has recorded itself.
    """
    others: dict[str, Any] = {} if without_run is None else {"without_run": without_run}

    def load() -> list[Message]:
        sessions = seams.sessions()
        return (
            [] if sessions is None else sessions.get_messages_as_conversation(session_id, **others)
        )

    try:
        return await seams.storage.run(load)
    except Exception:  # an embedder's store may raise anything
        log.exception("session history not loaded", extra={"session_id": session_id})
        return []


def session_headers(session_id: str | None, session_key: str | None) -> dict[str, str]:
    """The headers that tell the client which session answered."""
    headers = {}
    if session_id:
        headers[SESSION_ID_HEADER] = session_id
    if session_key:
        headers[SESSION_KEY_HEADER] = session_key
    return headers


def stream_headers(
    request: web.Request, seams: Seams, headers: Mapping[str, str]
) -> dict[str, str]:
    """Headers of a stream: it is prepared before middleware could add the CORS ones."""
    return {**headers, **(seams.cors_headers(request.headers.get("Origin", "")) or {})}


def included(request: web.Request) -> list[str]:
    """The `include` of a query; clients write lists there in two ways."""
    return [*request.query.getall("include", []), *request.query.getall("include[]", [])]
