"""GET /v1/runs/{run_id}/events: a run's log as a stream, from any number on, to its end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from aiohttp import web

from hermes.core.errors import EventsGone, InvalidRequest
from hermes.core.events import TurnEnded
from hermes.core.runs import LoggedEvent, Run
from hermes.runs.live_logs import Following
from hermes.server.seams import Seams
from hermes.server.streaming import SSE_HEADERS, Heartbeat, Write
from hermes.server.turns import stream_headers
from hermes.wire.run_policies import RUN_ID_HEADER
from hermes.wire.run_requests import parse_after
from hermes.wire.run_stream import RunEncoder
from hermes.wire.runs import run_events_gone, unknown_run

log = logging.getLogger(__name__)


async def watch(request: web.Request, seams: Seams) -> web.StreamResponse:
    run_id = request.match_info["run_id"]
    owner = seams.read_caller(request).owner
    after = parse_after(request.headers, request.query)
    passing = seams.passing.get(run_id, owner)
    if passing is not None:
        return await _write(request, seams, run_id, passing.events(after))
    run = await seams.runs.in_store(lambda store: store.get(run_id, owner=owner))
    if run is None:
        raise unknown_run(run_id)
    _refuse_unheard_of(run, after)
    following = seams.runs.follow(run_id, after=after)
    try:
        first = await following.look()
    except EventsGone as error:
        following.close()
        raise run_events_gone(run) from error
    return await _watch_kept(request, seams, run, following, first)


def _refuse_unheard_of(run: Run, after: int) -> None:
    """Whoever has seen what has not happened would wait for ever, or miss what comes."""
    if after > run.last_seq and not run.status.is_final:
        raise InvalidRequest(
            f"Run {run.id} has {run.last_seq} events so far, so none of them can have the number "
            f"{after}. Ask for those after the last one you have seen.",
            param="after",
            code="invalid_value",
        )


async def _watch_kept(
    request: web.Request,
    seams: Seams,
    run: Run,
    following: Following,
    first: list[LoggedEvent],
) -> web.StreamResponse:
    live = seams.runs.live(run.id)
    if live is not None:
        live.joined()
    heartbeat = Heartbeat(following.put, seams.keepalive_seconds())
    try:
        return await _write(request, seams, run.id, _rest(run, following, first, heartbeat))
    finally:
        heartbeat.stop()
        following.close()
        if live is not None:
            live.left(run.disconnect)


async def _rest(
    run: Run, following: Following, events: list[LoggedEvent], heartbeat: Heartbeat
) -> AsyncIterator[list[LoggedEvent]]:
    if not events and run.status.is_final:
        return  # the viewer has seen it all
    while True:
        if events:
            yield events
            heartbeat.reset()
            if isinstance(events[-1].event, TurnEnded):
                return
        events = await following.take()


async def _write(
    request: web.Request,
    seams: Seams,
    run_id: str,
    events: AsyncIterator[list[LoggedEvent]],
) -> web.StreamResponse:
    headers = stream_headers(request, seams, {RUN_ID_HEADER: run_id})
    response = web.StreamResponse(status=200, headers={**SSE_HEADERS, **headers})
    encoder = RunEncoder(run_id)
    try:
        await response.prepare(request)
        write: Write = response.write
        async for burst in events:
            await write(b"".join(map(encoder.encode, burst)))
    except OSError:
        log.info("viewer left", extra={"run_id": run_id})
    return response
