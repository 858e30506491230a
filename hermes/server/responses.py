"""POST /v1/responses: a response made at once, streamed, or in the background."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hermes.runs.turns import start_turn
from hermes.server.answers import json_answer
from hermes.server.dialects import with_reasoning
from hermes.server.response_background import begin
from hermes.server.response_records import finished_response, save
from hermes.server.response_replay import follow
from hermes.server.response_request import Prepared, prepare
from hermes.server.seams import ResponseStream, Seams
from hermes.server.turns import once, read_body, run_to_end, stream_headers


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    body = await read_body(request)
    prepared = await prepare(seams, request, body)
    call = prepared.call
    if prepared.asked.echo.background:
        return await _in_background(request, seams, prepared)
    if prepared.asked.stream:
        stream = ResponseStream(
            head=prepared.head,
            turn=start_turn(seams.run_turn, call),
            user_message=call.user_message,
            record=prepared.record,
            headers=stream_headers(request, seams, prepared.headers),
            dialect=prepared.dialect,
        )
        return await seams.write_responses(request, stream)

    heard = with_reasoning(call) if prepared.shows_reasoning else call

    async def compute() -> dict[str, Any]:
        result = await run_to_end(seams, heard)
        response = finished_response(
            prepared.head,
            result,
            prepared.record,
            form=prepared.dialect.forms.responses,
            preview=seams.tool_preview,
        )
        await save(seams, response, result, prepared.record)
        return response

    return json_answer(await once(request, seams, compute), headers=prepared.headers)


async def _in_background(
    request: web.Request, seams: Seams, prepared: Prepared
) -> web.StreamResponse:
    """A client that leaves, or never waits, changes nothing about the turn."""
    if prepared.asked.stream:
        live, _ = await begin(seams, prepared)
        headers = stream_headers(request, seams, prepared.headers)
        return await follow(request, seams, live, headers=headers, after=-1)

    async def compute() -> dict[str, Any]:
        _, begun = await begin(seams, prepared)
        return begun

    return json_answer(await once(request, seams, compute), headers=prepared.headers)
