"""Responses that are made in the background: begun, followed, and finished without a client."""

from __future__ import annotations

from typing import Any

from hermes.core.errors import Unavailable
from hermes.core.events import TurnEnded
from hermes.runs.live_responses import Fate, LiveResponse
from hermes.runs.turns import start_turn
from hermes.server.response_request import Prepared
from hermes.server.response_stream import KeptResponse
from hermes.server.seams import Seams
from hermes.server.streaming import TurnView, abandon, pump, result_of, view_of
from hermes.wire.responses_stream import ResponsesEncoder


async def begin(seams: Seams, prepared: Prepared) -> tuple[LiveResponse, dict[str, Any]]:
    """Start the turn; the response as it stands is stored when this returns."""
    encoder = ResponsesEncoder(prepared.head, preview=seams.tool_preview, dialect=prepared.dialect)
    view = view_of(start_turn(seams.run_turn, prepared.call))
    live = LiveResponse(
        prepared.head.id,
        logs=lambda: seams.responses().events,
        stop=lambda reason: abandon(view, reason),
        snapshot=lambda: encoder.snapshot("in_progress"),
        is_background=True,
    )
    kept = KeptResponse(seams, encoder, prepared.record, live)
    if not await kept.save_opened():
        await abandon(view, "The response cannot be stored")
        raise Unavailable(
            "The response could not be stored, so it cannot be made in the background; the "
            "gateway's log says why. Ask without 'background', or try again.",
            code="response_store_unavailable",
            headers={"Retry-After": "5"},
        )
    begun = encoder.snapshot("in_progress")
    seams.live.run(live, _make(view, kept, live, seams.keepalive_seconds()))
    return live, begun


async def _make(view: TurnView, kept: KeptResponse, live: LiveResponse, keepalive: float) -> None:
    """A cancelled or deleted response has no terminal event; whoever replays it adds one."""

    async def write(frames: bytes) -> None:
        live.add(frames)

    for frame in kept.encoder.opening():
        live.add(frame)
    live.add(await pump(view.source, kept.encoder, write, keepalive))
    if live.fate is not Fate.UNDECIDED:
        await kept.save_cancelled()
        return
    result = await result_of(view)
    ending = kept.encoder.encode(TurnEnded(result))
    await kept.save_final(result)
    live.add(ending)
