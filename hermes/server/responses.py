"""POST /v1/responses: a response made at once, streamed, or in the background."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from aiohttp import web

from hermes.core.turn import Outcome
from hermes.runs.passing import PassingRun
from hermes.runs.turns import LiveTurn, start_into
from hermes.server import kept_response
from hermes.server.answers import json_answer
from hermes.server.asking import decide
from hermes.server.dialects import with_reasoning
from hermes.server.honesty import ignored_headers
from hermes.server.question import Question, question_of
from hermes.server.response_records import finished_response
from hermes.server.response_request import Prepared, prepare
from hermes.server.response_work import KIND, ResponseWork, head_of
from hermes.server.seams import KeepAsking, ResponseStream, Seams
from hermes.server.submitting import has_key, idempotency_of
from hermes.server.turns import read_body, run_to_end, stream_headers
from hermes.wire.run_policies import RUN_ID_HEADER, read_policies


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    question = question_of(request, seams, await read_body(request))
    policies = read_policies(request.headers)
    prepared = await prepare(seams, question)
    said = ignored_headers(request, seams, prepared.call.parameters, prepared.asked.ignored)
    prepared = replace(prepared, headers={**prepared.headers, **said})
    answer, prepared = await kept_response.heard(seams, question, prepared)
    if answer is not None:
        work = kept_response.further_work(seams, question, prepared, answer)
        begun = await decide(seams, answer, work)
        return await kept_response.show(request, seams, prepared, begun)
    if not kept_response.is_wanted(seams, prepared, policies, has_key=has_key(request)):
        return await _from_memory(request, seams, question, prepared)
    work = ResponseWork(seams=seams, question=question, head=prepared.head, prepared=prepared)
    key = await idempotency_of(request)
    new = kept_response.new_response_run(seams, question, prepared, policies, key)
    begun = await seams.runs.submit(new, work)
    if begun.is_replayed:
        prepared = replace(prepared, head=head_of(begun.run.input))
    return await kept_response.show(request, seams, prepared, begun)


async def _from_memory(
    request: web.Request, seams: Seams, question: Question, prepared: Prepared
) -> web.StreamResponse:
    """Nothing is stored, and a client that leaves ends it all."""
    await seams.accounting.refuse_spent(prepared.owner, None, seams.storage)
    with seams.gate.entered(prepared.owner):
        run = seams.passing.begin(KIND, prepared.owner, prepared.head.model, prepared.head.id)
        kept_response.keep_if_deeds(seams, question, prepared, run)
        keep_asking = partial(kept_response.keep_paused, seams, question, prepared, run)
        headers = {**prepared.headers, RUN_ID_HEADER: run.id}
        if not prepared.asked.stream:
            return json_answer(await _whole(seams, prepared, run, keep_asking), headers=headers)
        run.task = start_into(run.feed, run.agent_ref, seams.run_turn, prepared.call)
        stream = ResponseStream(
            head=prepared.head,
            turn=LiveTurn(run.feed, run.task, run.agent_ref),
            user_message=prepared.call.user_message,
            record=prepared.record,
            headers=stream_headers(request, seams, headers),
            dialect=prepared.dialect,
            keep_asking=keep_asking,
        )
        try:
            return await seams.write_responses(request, stream)
        finally:
            run.end()


async def _whole(
    seams: Seams, prepared: Prepared, run: PassingRun, keep_asking: KeepAsking
) -> dict[str, Any]:
    call = with_reasoning(prepared.call) if prepared.shows_reasoning else prepared.call
    try:
        run.feed.is_quiet = True
        result = await run_to_end(seams, call, run.agent_ref, run.feed)
        run.result = result
    finally:
        run.end()
    if result.outcome is Outcome.ASKING:
        await keep_asking(result)
    return finished_response(
        prepared.head,
        result,
        prepared.record,
        form=prepared.dialect.forms.responses,
        preview=seams.tool_preview,
    )
