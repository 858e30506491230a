"""Responses after they were made, or while: read, replayed, listed, cancelled and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.errors import InvalidRequest, NotFound
from hermes.server.answers import json_answer
from hermes.server.response_replay import leg_of, replay, snapshot
from hermes.server.seams import Seams
from hermes.server.turns import included, stream_headers
from hermes.wire.lenient import boolean
from hermes.wire.pages import item_list, page_of, parse_item_query
from hermes.wire.queries import whole_number
from hermes.wire.response_parameters import check_include

_LAST_NUMBER = 2**53


async def get(request: web.Request, seams: Seams) -> web.StreamResponse:
    check_include(included(request))
    wants_stream = boolean(request.query, "stream", False)
    after = whole_number(request.query, "starting_after", -1, low=0, high=_LAST_NUMBER)
    response = (await _existing(request, seams))["response"]
    if not wants_stream:
        return json_answer(await _as_it_stands(seams, response))
    headers = stream_headers(request, seams, {})
    leg = await leg_of(seams, response["id"])
    return await replay(request, seams, response, leg, headers=headers, after=after)


async def response_as_it_stands(seams: Seams, response_id: str) -> dict[str, Any]:
    """A stored response; while it is being made, with what there is of it."""
    record = await seams.storage.run(lambda: seams.responses().get(response_id))
    if record is None:
        raise _unknown(response_id)
    return await _as_it_stands(seams, record["response"])


async def _as_it_stands(seams: Seams, response: dict[str, Any]) -> dict[str, Any]:
    if response["status"] != "in_progress":
        return response
    leg = await leg_of(seams, response["id"])
    return response if leg is None else await snapshot(seams, leg, "in_progress")


async def list_input_items(request: web.Request, seams: Seams) -> web.StreamResponse:
    check_include(included(request))
    wanted = parse_item_query(request.query)
    record = await _existing(request, seams)
    return json_answer(item_list(page_of(record.get("input_items") or [], wanted)))


async def cancel(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Stops a response in the background; one that is over is answered as it is."""
    record = await _existing(request, seams)
    response = record["response"]
    if not response.get("background"):
        raise InvalidRequest(
            "Only a response that was made with background: true can be cancelled; any other "
            "stops when its client leaves.",
            param="response_id",
            code="not_in_background",
        )
    if response["status"] in ("queued", "in_progress"):
        await _stop(seams, response["id"])
        response = (await _existing(request, seams))["response"]
    return json_answer(response)


async def delete(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Also stops a response that is still being made."""
    response_id = request.match_info["response_id"]
    await _stop(seams, response_id)
    if not await seams.storage.run(lambda: seams.responses().delete(response_id)):
        raise _unknown(response_id)
    return json_answer({"id": response_id, "object": "response", "deleted": True})


async def _stop(seams: Seams, response_id: str) -> None:
    """Stop the run that makes a response, if it still does."""
    leg = await leg_of(seams, response_id)
    if leg is not None and not leg.run.status.is_final:
        await seams.runs.stop(leg.run.id)


async def _existing(request: web.Request, seams: Seams) -> Mapping[str, Any]:
    response_id = request.match_info["response_id"]
    record = await seams.storage.run(lambda: seams.responses().get(response_id))
    if record is None:
        raise _unknown(response_id)
    return record


def _unknown(response_id: str) -> NotFound:
    return NotFound(
        f"No response with id '{response_id[:100]}' is stored: it was never stored (store: false), "
        "was deleted, or has been dropped to make room for newer ones.",
        code="response_not_found",
        param="response_id",
    )
