"""/v1/responses: create, get and delete."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.ports import ResponseRecords
from hermes.core.turn import TurnCall
from hermes.runs.turns import start_turn
from hermes.server.answers import json_answer
from hermes.server.attachments import settle_response
from hermes.server.auth import Caller
from hermes.server.dialects import with_reasoning
from hermes.server.response_records import finished_response, save
from hermes.server.seams import NewRecord, ResponseStream, Seams
from hermes.server.turns import (
    once,
    read_body,
    run_to_end,
    session_headers,
    stored_history,
    stream_headers,
)
from hermes.wire.conversation import refuse_stray_results
from hermes.wire.responses import ResponseHead, ResponsesRequest, parse_responses

TRUNCATED_HISTORY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """What a request continues: the stored turns before it."""

    previous_id: str | None = None
    history: tuple[Message, ...] = ()
    instructions: str | None = None
    session_id: str | None = None


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    asked = parse_responses(await read_body(request))
    if asked.echo.background:
        raise InvalidRequest(
            "background: true is not served; leave it out, or stream the response.",
            param="background",
            code="unsupported_parameter",
        )
    asked = await settle_response(asked, seams)
    caller = seams.read_caller(request)
    dialect = seams.read_dialect(request)
    chain = await _chain(seams, asked, caller)
    call = _turn_call(asked, caller, chain)
    headers = session_headers(call.session_id, call.session_key)
    if asked.stream:
        stream = ResponseStream(
            head=_head(seams, asked, chain),
            turn=start_turn(seams.run_turn, call),
            user_message=call.user_message,
            record=_new_record(asked, call, chain),
            headers=stream_headers(request, seams, headers),
            dialect=dialect,
        )
        return await seams.write_responses(request, stream)

    shows_reasoning = dialect.shows_reasoning(asked=asked.echo.asks_for_reasoning)
    heard = with_reasoning(call) if shows_reasoning else call

    async def compute() -> dict[str, Any]:
        result = await run_to_end(seams, heard)
        record = _new_record(asked, call, chain)
        response = finished_response(
            _head(seams, asked, chain),
            result,
            record,
            form=dialect.forms.responses,
            preview=seams.tool_preview,
        )
        await save(seams, response, result, record)
        return response

    return json_answer(await once(request, seams, compute), headers=headers)


async def get(request: web.Request, seams: Seams) -> web.StreamResponse:
    response_id = request.match_info["response_id"]
    record = await seams.storage.run(lambda: seams.responses().get(response_id))
    if record is None:
        raise _unknown(response_id)
    return json_answer(record["response"])


async def delete(request: web.Request, seams: Seams) -> web.StreamResponse:
    response_id = request.match_info["response_id"]
    if not await seams.storage.run(lambda: seams.responses().delete(response_id)):
        raise _unknown(response_id)
    return json_answer({"id": response_id, "object": "response", "deleted": True})


async def _chain(seams: Seams, asked: ResponsesRequest, caller: Caller) -> _Chain:
    """What this request continues: a response, a conversation by its name, or a stored session."""
    previous_id, record = await seams.storage.run(lambda: _find(seams.responses(), asked))
    if record is None:
        if asked.previous_response_id:
            raise NotFound(
                f"Previous response with id '{asked.previous_response_id[:100]}' not found.",
                code="previous_response_not_found",
                param="previous_response_id",
            )
        return await _session_chain(seams, caller)
    return _Chain(
        previous_id=previous_id,
        history=tuple(record.get("conversation_history") or ()),
        instructions=record.get("instructions"),
        session_id=record.get("session_id"),
    )


async def _session_chain(seams: Seams, caller: Caller) -> _Chain:
    if caller.session_id is None:
        return _Chain()
    history = await stored_history(seams, caller.session_id)
    return _Chain(history=tuple(history), session_id=caller.session_id)


def _find(
    records: ResponseRecords, asked: ResponsesRequest
) -> tuple[str | None, dict[str, Any] | None]:
    previous_id = asked.previous_response_id
    if asked.conversation:
        # A name nobody used yet, or one whose last response was dropped, starts afresh.
        previous_id = records.get_conversation(asked.conversation)
    return previous_id, records.get(previous_id) if previous_id else None


def _turn_call(asked: ResponsesRequest, caller: Caller, chain: _Chain) -> TurnCall:
    history = [*chain.history, *asked.history]
    refuse_stray_results(history, asked.parameters.tool_results, param="input")
    if asked.truncation == "auto":
        history = history[-TRUNCATED_HISTORY:]
    return TurnCall(
        user_message=asked.user_message,
        history=history,
        system_prompt=asked.system_prompt(chain.instructions),
        session_id=caller.session_id or chain.session_id or new_id("session-"),
        session_key=caller.session_key,
        parameters=asked.parameters,
    )


def _lasting_instructions(asked: ResponsesRequest, chain: _Chain) -> str | None:
    return asked.instructions if asked.instructions is not None else chain.instructions


def _new_record(asked: ResponsesRequest, call: TurnCall, chain: _Chain) -> NewRecord:
    return NewRecord(
        store=asked.store,
        opening=call.opening,
        given_history=call.history,
        whole_history=[*chain.history, *asked.history],
        instructions=_lasting_instructions(asked, chain),
        conversation=asked.conversation,
        session_id=call.session_id,
        continues=chain.previous_id,
        inherited=len(chain.history),
    )


def _head(seams: Seams, asked: ResponsesRequest, chain: _Chain) -> ResponseHead:
    return ResponseHead(
        id=new_id("resp_"),
        created_at=int(time.time()),
        model=asked.model or seams.model_name(),
        previous_response_id=chain.previous_id,
        instructions=_lasting_instructions(asked, chain),
        conversation=asked.conversation,
        echo=asked.echo,
    )


def _unknown(response_id: str) -> NotFound:
    return NotFound(
        f"No response with id '{response_id[:100]}' is stored: it was never stored (store: false), "
        "was deleted, or has been dropped to make room for newer ones.",
        code="response_not_found",
        param="response_id",
    )
