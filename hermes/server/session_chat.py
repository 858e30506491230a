"""Turns in a stored session: the whole answer, a stream, and the same stream joined again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from hermes.core.errors import EventsGone, InvalidRequest, NotFound
from hermes.core.events import Event, TurnPaused
from hermes.core.ids import derived_id
from hermes.core.runs import Run, RunQuery
from hermes.core.turn import Outcome
from hermes.runs.engine import Begun
from hermes.server.answers import json_answer
from hermes.server.asking import decide, pending_answer
from hermes.server.question import asked_in, question_of
from hermes.server.routing import named_model, route_model
from hermes.server.run_views import RunSource, leg_result, source_of
from hermes.server.seams import Seams
from hermes.server.session_store import existing, in_store
from hermes.server.session_work import KIND, SessionWork, session_input
from hermes.server.streaming import Stream, write_stream
from hermes.server.submitting import idempotency_of, new_run, run_headers
from hermes.server.turns import read_body, session_headers, stream_headers
from hermes.wire import sessions as wire
from hermes.wire.run_policies import RUN_ID_HEADER, read_policies
from hermes.wire.run_requests import LAST_EVENT_ID
from hermes.wire.runs import run_events_gone, unknown_run
from hermes.wire.session_stream import EventId, SessionEncoder, parse_event_id
from hermes.wire.session_stream import after as frames_after
from hermes.wire.turn_errors import turn_error


async def chat(request: web.Request, seams: Seams) -> web.StreamResponse:
    begun, headers = await _begun(request, seams, wants_text=False)
    session_id = str(begun.run.session_id)
    result = await leg_result(seams.runs, begun)
    if result.outcome is Outcome.FAILED:
        raise turn_error(result, headers)
    return json_answer(
        wire.session_chat_completion(result.session_id or session_id, result), headers=headers
    )


async def chat_stream(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Some clients send the whole request again to come back; `Last-Event-ID` tells."""
    if request.headers.get(LAST_EVENT_ID):
        return await rejoin(request, seams)
    begun, headers = await _begun(request, seams, wants_text=True)
    source = await source_of(seams.runs, begun)
    return await _write(request, seams, begun, source, headers)


async def rejoin(request: web.Request, seams: Seams) -> web.StreamResponse:
    """GET: the stream of the session's newest turn, or of the one in `Last-Event-ID`."""
    session_id = request.match_info["session_id"]
    caller = seams.read_caller(request)
    seen = _seen(request)
    run = await _run_of(seams, session_id, caller.owner, seen)
    live = seams.runs.live(run.id)
    begun = Begun(run=run, live=live, after=await _leg_of(seams, run, seen))
    source = await source_of(seams.runs, begun)
    try:
        await source.look()
    except EventsGone as error:
        source.view.close()
        raise run_events_gone(run) from error
    headers = {**session_headers(session_id, caller.session_key), RUN_ID_HEADER: run.id}
    return await _write(request, seams, begun, source, headers, seen)


def _seen(request: web.Request) -> EventId | None:
    """What the reader saw last."""
    written = request.headers.get(LAST_EVENT_ID, "")
    seen = parse_event_id(written)
    if written and seen is None:
        raise InvalidRequest(
            f"{LAST_EVENT_ID} must be the 'id' of an event of this stream.",
            param=LAST_EVENT_ID,
            code="invalid_value",
        )
    return seen


async def _run_of(seams: Seams, session_id: str, owner: str, seen: EventId | None) -> Run:
    await in_store(seams, lambda store: existing(store, session_id))
    if seen is not None:
        run = await seams.runs.in_store(lambda store: store.get(seen.run_id, owner=owner))
        if run is None or run.session_id != session_id:
            raise unknown_run(seen.run_id, param=LAST_EVENT_ID)
        return run
    query = RunQuery(owner=owner, limit=1, session_id=session_id)
    page = await seams.runs.in_store(lambda store: store.page(query))
    if page is None or not page.runs:
        raise NotFound(
            "No turn of this session is known; begin one with POST.", code="run_not_found"
        )
    return page.runs[0]


async def _leg_of(seams: Seams, run: Run, seen: EventId | None) -> int:
    """After which number of the log the part of the run begins that the reader wants."""
    if seen is not None:
        return seen.leg
    events = await seams.runs.events(run.id, after=0, up_to=run.last_seq)
    pauses = [each.seq for each in events if isinstance(each.event, TurnPaused)]
    return next((seq for seq in reversed(pauses) if seq < run.last_seq), 0)


async def _write(
    request: web.Request,
    seams: Seams,
    begun: Begun,
    source: RunSource,
    headers: Mapping[str, str],
    seen: EventId | None = None,
) -> web.StreamResponse:
    run = begun.run
    encoder = SessionEncoder(
        run_id=run.id,
        session_id=str(run.session_id),
        message_id=derived_id("msg_", run.id, begun.after),
        leg=begun.after,
    )
    skipped = -1 if seen is None else seen.number
    stream = Stream(
        encoder=_Rejoined(encoder, skipped) if seen is not None else encoder,
        opening=[frames_after(encoder.opening(), skipped)],
        keepalive=seams.keepalive_seconds(),
        headers=stream_headers(request, seams, headers),
    )
    return await write_stream(request, source.view, stream)


@dataclass(frozen=True, slots=True)
class _Rejoined:
    """An encoder whose first frames the reader has had."""

    encoder: SessionEncoder
    number: int

    def encode(self, event: Event, at: float | None = None) -> bytes:
        return frames_after(self.encoder.encode(event, at), self.number)


async def _begun(
    request: web.Request, seams: Seams, *, wants_text: bool
) -> tuple[Begun, dict[str, str]]:
    """The turn that the request asks for, and the headers that say who answers it."""
    seams.admit_turn()
    session_id = request.match_info["session_id"]
    question = question_of(request, seams, await read_body(request))
    asked = wire.parse_session_chat(question.body)
    routed = route_model(seams, asked.model)
    await in_store(seams, lambda store: existing(store, session_id))
    answer = await pending_answer(
        seams, question.caller.owner, asked.user_message, session_id=session_id
    )
    if answer is not None and answer.decision is not None:
        origin = asked_in(answer.waiting.run)
        work = SessionWork(seams=seams, question=origin, wants_text=wants_text)
        begun = await decide(seams, answer, work)
    else:
        work = SessionWork(seams=seams, question=question, wants_text=wants_text)
        new = new_run(
            kind=KIND,
            owner=question.caller.owner,
            kept=session_input(question),
            model=named_model(seams, asked.model),
            policies=read_policies(request.headers),
            seams=seams,
            disconnect=seams.run_settings.disconnect_sessions,
            is_watched=wants_text,
            session_id=session_id,
            idempotency=await idempotency_of(request),
        )
        begun = await seams.runs.submit(new, work)
    named = session_headers(session_id, question.caller.session_key)
    return begun, {**named, **routed.headers, **run_headers(begun)}
