"""The streamed form of a response: stored early, and stored again however the stream ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.turn import Outcome, TurnResult
from hermes.server.response_records import save
from hermes.server.seams import NewRecord, Seams
from hermes.server.streaming import Stream, TurnView, write_stream
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder


async def write_responses(
    request: web.Request,
    head: ResponseHead,
    view: TurnView,
    record: NewRecord,
    seams: Seams,
    *,
    headers: Mapping[str, str],
    keepalive: float,
) -> web.StreamResponse:
    """Write the turn as response events.

    When the client leaves, what there is of the answer is stored as incomplete.
    """
    encoder = ResponsesEncoder(head)

    async def save_final(result: TurnResult) -> None:
        await save(seams, encoder.final or encoder.snapshot("failed"), result, record)

    stream = Stream(
        encoder=encoder,
        opening=encoder.opening(),
        keepalive=keepalive,
        headers=headers,
        on_opened=lambda: _save_unfinished(seams, encoder.snapshot("in_progress"), record),
        before_end=save_final,
        on_left=lambda: _save_unfinished(seams, encoder.snapshot("incomplete"), record),
    )
    return await write_stream(request, view, stream)


async def _save_unfinished(seams: Seams, snapshot: dict[str, Any], record: NewRecord) -> None:
    """Store a response with the text it has so far, so that it can be read and continued."""
    result = TurnResult(text=_text(snapshot), outcome=Outcome.INTERRUPTED)
    await save(seams, snapshot, result, record)


def _text(snapshot: dict[str, Any]) -> str:
    return "".join(
        part.get("text", "")
        for item in snapshot["output"]
        if item["type"] == "message"
        for part in item["content"]
    )
