"""Responses that are kept as runs: begun, gone on with, and shown to whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web

from hermes.core.errors import ApiError
from hermes.core.messages import Message
from hermes.core.runs import DETACH, Idempotency, NewRun
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.engine import Begun
from hermes.runs.passing import PassingRun
from hermes.runs.turns import LiveTurn
from hermes.server.answers import json_answer
from hermes.server.asking import Answer, not_run, pending_answer
from hermes.server.deeds import keep_when_over
from hermes.server.question import Question, asked_in
from hermes.server.response_records import CONVERSATION_PREFIX, finished_response
from hermes.server.response_request import Prepared
from hermes.server.response_work import KIND, ResponseWork, response_input
from hermes.server.run_views import leg_result, source_of, stored_leg
from hermes.server.seams import ResponseStream, Seams
from hermes.server.stored_responses import response_as_it_stands
from hermes.server.submitting import new_run, run_headers
from hermes.server.turns import stream_headers
from hermes.wire.run_policies import RunPolicies
from hermes.wire.transcript import turn_messages
from hermes.wire.turn_errors import turn_error


def is_wanted(seams: Seams, prepared: Prepared, policies: RunPolicies, *, has_key: bool) -> bool:
    """Whether the answer matters beyond this connection."""
    policy = policies.disconnect
    return prepared.asked.store or has_key or (policy is not None and policy.grace != 0)


def new_response_run(
    seams: Seams,
    question: Question,
    prepared: Prepared,
    policies: RunPolicies,
    idempotency: Idempotency | None = None,
) -> NewRun:
    new = new_run(
        kind=KIND,
        owner=question.caller.owner,
        kept=response_input(question, prepared.head),
        model=prepared.head.model,
        policies=policies,
        seams=seams,
        disconnect=seams.run_settings.disconnect_responses,
        session_id=_session(question, prepared),
        resource_id=prepared.head.id,
        metadata=prepared.asked.metadata,
        is_watched=bool(question.body.get("stream")),
        idempotency=idempotency,
    )
    return replace(new, disconnect=DETACH) if prepared.asked.echo.background else new


def _session(question: Question, prepared: Prepared) -> str | None:
    """Where turns must come one after the other: a named session, or a conversation.

    A response may be continued several times at once; those are branches, not a queue.
    """
    conversation = prepared.asked.conversation
    if conversation is not None and conversation.startswith(CONVERSATION_PREFIX):
        return conversation
    return question.caller.session_id


async def heard(
    seams: Seams, question: Question, prepared: Prepared
) -> tuple[Answer | None, Prepared]:
    """The answer to a question that the request is; or a turn that knows what was not done."""
    answer = await pending_answer(
        seams,
        question.caller.owner,
        prepared.asked.user_message,
        history=prepared.call.history,
        session_id=_session(question, prepared),
        resource_id=prepared.asked.previous_response_id,
    )
    if answer is None or answer.decision is not None:
        return answer, prepared
    return None, _with_history(prepared, not_run(answer.waiting.requests))


def _with_history(prepared: Prepared, more: Sequence[Message]) -> Prepared:
    call, record = prepared.call, prepared.record
    return replace(
        prepared,
        call=replace(call, history=[*call.history, *more]),
        record=replace(
            record,
            given_history=[*record.given_history, *more],
            whole_history=[*record.whole_history, *more],
        ),
    )


async def keep_paused(
    seams: Seams, question: Question, prepared: Prepared, run: PassingRun, result: TurnResult
) -> None:
    """A turn that ran from memory has to ask: from now on it is kept, so that it can go on."""
    new = new_response_run(seams, question, prepared, RunPolicies())
    call = prepared.call
    messages = turn_messages(call.history, call.opening, result)
    await seams.runs.keep_paused(
        replace(new, id=run.id, session_id=None), run.feed.happened(), messages, result
    )
    seams.passing.forget(run.id)


def keep_if_deeds(seams: Seams, question: Question, prepared: Prepared, run: PassingRun) -> None:
    """Of a response from memory that changes something the receipt is kept."""
    keep_when_over(
        seams,
        run,
        prepared.call,
        lambda: new_response_run(seams, question, prepared, RunPolicies()),
    )


def further_work(
    seams: Seams, question: Question, prepared: Prepared, answer: Answer
) -> ResponseWork:
    """The run that waited makes this response too."""
    run = answer.waiting.run
    return ResponseWork(
        seams=seams,
        question=question,
        head=prepared.head,
        prepared=prepared,
        origin=asked_in(run),
    )


async def show(
    request: web.Request, seams: Seams, prepared: Prepared, begun: Begun
) -> web.StreamResponse:
    headers = {**prepared.headers, **run_headers(begun)}
    if prepared.asked.stream:
        source = await source_of(seams.runs, begun)
        stream = ResponseStream(
            head=prepared.head,
            turn=LiveTurn(source, source.result, source.agent_ref),
            user_message=prepared.call.user_message,
            record=prepared.record,
            headers=stream_headers(request, seams, headers),
            dialect=prepared.dialect,
        )
        return await seams.write_responses(request, stream)
    if prepared.asked.echo.background:
        if begun.live is not None:
            await asyncio.shield(begun.live.ready)
        return json_answer(await response_as_it_stands(seams, prepared.head.id), headers=headers)
    try:
        response = await _whole(seams, prepared, begun)
    except ApiError as error:
        error.headers.update(headers)
        raise
    return json_answer(response, headers=headers)


async def _whole(seams: Seams, prepared: Prepared, begun: Begun) -> dict[str, Any]:
    """The response in one piece: the same to everybody who asks for it, however late."""
    if begun.live is None:
        result, ended_at = await stored_leg(seams.runs, begun)
    else:
        result, ended_at = await leg_result(seams.runs, begun), None
    if result.outcome is Outcome.FAILED:
        raise turn_error(result)
    made = begun.live and begun.live.work
    if isinstance(made, ResponseWork) and made.response is not None:
        return made.response
    return finished_response(
        prepared.head,
        result,
        prepared.record,
        form=prepared.dialect.forms.responses,
        preview=seams.tool_preview,
        ended_at=ended_at,
    )
