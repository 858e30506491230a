"""The streamed form of a response: stored early, and stored again however the stream ends."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.turn import Outcome, TurnResult
from hermes.server.response_records import save
from hermes.server.seams import NewRecord, Seams
from hermes.server.streaming import Stream, TurnView, write_stream
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect

log = logging.getLogger(__name__)


async def write_responses(
    request: web.Request,
    head: ResponseHead,
    view: TurnView,
    record: NewRecord,
    seams: Seams,
    *,
    headers: Mapping[str, str],
    keepalive: float,
    dialect: Dialect = CONTRACT_DIALECT,
) -> web.StreamResponse:
    """Write the turn as response events.

    When the client leaves, what there is of the answer is stored as incomplete.
    """
    encoder = ResponsesEncoder(head, preview=seams.tool_preview, dialect=dialect)
    ended: TurnResult | None = None

    async def save_final(result: TurnResult) -> None:
        nonlocal ended
        ended = result
        await _save(seams, encoder.final or encoder.snapshot("failed"), result, record)

    async def save_left() -> None:
        if ended is None:
            await _save_unfinished(seams, encoder.snapshot("incomplete"), record)
        else:
            # Only the terminal event was missed; its response is as complete as it was.
            await save_final(ended)

    stream = Stream(
        encoder=encoder,
        opening=encoder.opening(),
        keepalive=keepalive,
        headers=headers,
        on_opened=lambda: _save_unfinished(seams, encoder.snapshot("in_progress"), record),
        before_end=save_final,
        on_left=save_left,
    )
    return await write_stream(request, view, stream)


async def _save_unfinished(seams: Seams, snapshot: dict[str, Any], record: NewRecord) -> None:
    """Store a response with the text it has so far, so that it can be read and continued."""
    result = TurnResult(text=_text(snapshot), outcome=Outcome.INTERRUPTED)
    await _save(seams, snapshot, result, record)


async def _save(
    seams: Seams, response: dict[str, Any], result: TurnResult, record: NewRecord
) -> None:
    """A store that fails costs the record; the stream goes on, because the answer matters more."""
    try:
        await save(seams, response, result, record)
    except Exception:  # an embedder's store may raise anything
        log.exception("response not stored", extra={"response_id": response["id"]})


def _text(snapshot: dict[str, Any]) -> str:
    return "".join(
        part.get("text", "")
        for item in snapshot["output"]
        if item["type"] == "message"
        for part in item["content"]
    )
