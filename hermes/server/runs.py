"""/v1/runs: runs begun, listed, stopped, steered and approved."""

from __future__ import annotations

import asyncio

from aiohttp import web

from hermes.core.runs import DETACH, Run
from hermes.core.turn import TurnParameters
from hermes.runs.engine import Begun
from hermes.server.answers import json_answer
from hermes.server.honesty import ignored_headers
from hermes.server.question import question_of
from hermes.server.response_request import find_chain, outside
from hermes.server.routing import named_model, route_model
from hermes.server.run_objects import decide_run, existing_run, shown_run
from hermes.server.run_work import KIND, RunWork, run_question
from hermes.server.seams import Seams
from hermes.server.submitting import idempotency_of, new_run, run_headers
from hermes.server.turns import read_body
from hermes.wire.run_policies import RunPolicies, read_policies
from hermes.wire.run_requests import (
    parse_approval,
    parse_run,
    parse_run_query,
    parse_steer,
)
from hermes.wire.runs import run_list, run_object, unknown_run

STOP_SECONDS = 2.0


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    body = await read_body(request)
    question = question_of(request, seams, body)
    asked = parse_run(body, request.query, await outside(seams, body.get("input")))
    routed = route_model(seams, asked.model)
    said = ignored_headers(request, seams, TurnParameters(alias=routed.alias), asked.ignored)
    if asked.previous_response_id is not None:
        await find_chain(seams, (asked.previous_response_id, None), question.caller, {})
    headers = read_policies(request.headers)
    new = new_run(
        kind=KIND,
        owner=question.caller.owner,
        kept=run_question(question),
        model=named_model(seams, asked.model),
        policies=RunPolicies(
            disconnect=asked.disconnect or headers.disconnect,
            when_busy=asked.when_busy or headers.when_busy,
        ),
        seams=seams,
        disconnect=DETACH,
        session_id=asked.session_id or question.caller.session_id,
        metadata=asked.metadata,
        timeout=asked.timeout,
        idempotency=await idempotency_of(request),
    )
    begun = await seams.runs.submit(new, RunWork(seams=seams, question=question))
    await _wait(begun, asked.wait)
    run = await existing(request, seams, begun.run.id)
    return json_answer(
        await shown_run(seams, run),
        status=200 if run.status.is_final else 202,
        headers={
            "Location": f"/v1/runs/{run.id}",
            **routed.headers,
            **said,
            **run_headers(begun),
        },
    )


async def _wait(begun: Begun, seconds: float) -> None:
    """Wait a while for the end; a caller that leaves meanwhile has left a viewer's place."""
    live = begun.live
    if live is None or not seconds:
        return
    live.joined()
    try:
        await asyncio.wait([live.leg], timeout=seconds)
    except asyncio.CancelledError:
        live.left(begun.run.disconnect)
        raise
    live.left(DETACH)


async def list_runs(request: web.Request, seams: Seams) -> web.StreamResponse:
    query = parse_run_query(request.query, owner=seams.read_caller(request).owner)
    page = await seams.runs.in_store(lambda store: store.page(query))
    if page is None:
        raise unknown_run(str(query.after), param="after")
    return json_answer(run_list(page))


async def get_run(request: web.Request, seams: Seams) -> web.StreamResponse:
    return json_answer(await shown_run(seams, await existing(request, seams)))


async def stop(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Answered when it has happened. A run that is over is answered as it is."""
    owner = seams.read_caller(request).owner
    passing = seams.passing.get(request.match_info["run_id"], owner)
    if passing is not None:
        passing.stop()
        await passing.ended(STOP_SECONDS)
        return json_answer(run_object(passing.as_run()))
    run = await existing(request, seams)
    if not run.status.is_final:
        run = await seams.runs.stop(run.id) or run
    return json_answer(await shown_run(seams, run))


async def steer(request: web.Request, seams: Seams) -> web.StreamResponse:
    said = parse_steer(await read_body(request))
    run = await existing(request, seams)
    accepted = await seams.runs.steer(run.id, said)
    return json_answer(
        {"id": accepted.id, "object": "run.steer", "run_id": run.id, "status": "accepted"},
        status=202,
    )


async def approve(request: web.Request, seams: Seams) -> web.StreamResponse:
    answer = parse_approval(await read_body(request))
    run = await existing(request, seams)
    live = await decide_run(seams, run, answer)
    if live is not None:
        await asyncio.shield(live.ready)
    return json_answer(await shown_run(seams, await existing(request, seams)))


async def existing(request: web.Request, seams: Seams, run_id: str | None = None) -> Run:
    """The run that a path names, kept or not; raises `NotFound`."""
    wanted = run_id or request.match_info["run_id"]
    return await existing_run(seams, wanted, seams.read_caller(request).owner)
