"""The events of a response once more, made from the log: those that were, then those that come.

The log and the head give the same bytes every time, so a reader may leave and come back anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.errors import EventsGone, InvalidRequest
from hermes.core.events import Event
from hermes.core.runs import LoggedEvent, Run
from hermes.runs.engine import Begun
from hermes.server.question import read_question
from hermes.server.response_work import encoder_after, head_of
from hermes.server.run_views import source_of
from hermes.server.seams import Seams
from hermes.server.streaming import Stream, write_stream
from hermes.wire.replay import after as frames_after
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.runs import response_events_gone


@dataclass(frozen=True, slots=True)
class ResponseLeg:
    """The part of a run that made a response."""

    run: Run
    kept: Mapping[str, Any]
    """What is kept of the request."""
    after: int
    """Its events have higher numbers."""


@dataclass(frozen=True, slots=True)
class _Rejoined:
    """An encoder whose first events the reader has had."""

    encoder: ResponsesEncoder
    number: int

    def encode(self, event: Event, at: float | None = None) -> bytes:
        return frames_after(self.encoder.encode(event, at), self.number)


async def leg_of(seams: Seams, response_id: str) -> ResponseLeg | None:
    """The run behind a response; None when there is none any more."""
    run = await seams.runs.in_store(lambda store: store.find(response_id))
    if run is None:
        return None
    if run.input["head"]["id"] == response_id:
        return ResponseLeg(run, run.input, 0)
    return ResponseLeg(run, run.input["later"], run.input["later"]["after"])


async def snapshot(seams: Seams, leg: ResponseLeg, status: str) -> dict[str, Any]:
    """How far the response has come."""
    events = await seams.runs.events(leg.run.id, after=leg.after, up_to=leg.run.last_seq)
    return _encoder(seams, leg, events).snapshot(status)


def _encoder(seams: Seams, leg: ResponseLeg, events: list[LoggedEvent]) -> ResponsesEncoder:
    question = read_question(leg.kept, leg.run.owner)
    return encoder_after(seams, head_of(leg.kept), question, events)


async def replay(
    request: web.Request,
    seams: Seams,
    response: Mapping[str, Any],
    leg: ResponseLeg | None,
    *,
    headers: Mapping[str, str],
    after: int,
) -> web.StreamResponse:
    """Stream a response that is being made, or was, with the numbers it had."""
    if leg is None:
        raise response_events_gone(response)
    body = leg.kept["body"]
    if not (body.get("stream") or body.get("background")):
        raise InvalidRequest(
            "The events of this response are not stored: it was not streamed. GET it without "
            "'stream'.",
            param="stream",
            code="events_not_stored",
        )
    question = read_question(leg.kept, leg.run.owner)
    encoder = ResponsesEncoder(
        head_of(leg.kept), preview=seams.tool_preview, dialect=question.dialect
    )
    source = await source_of(
        seams.runs, Begun(run=leg.run, live=seams.runs.live(leg.run.id), after=leg.after)
    )
    try:
        await source.look()
    except EventsGone as error:
        source.view.close()
        raise response_events_gone(response) from error
    stream = Stream(
        encoder=_Rejoined(encoder, after),
        opening=[frames_after(frame, after) for frame in encoder.opening()],
        keepalive=seams.keepalive_seconds(),
        headers=headers,
    )
    return await write_stream(request, source.view, stream)
