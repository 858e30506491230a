"""The streamed form of a response.

A kept run stores its response itself. A turn that somebody else runs, or one that is not kept, is
stored from here: early, and again however the stream ends.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.turn import Outcome, TurnResult
from hermes.server.response_records import save
from hermes.server.run_views import RunSource
from hermes.server.seams import KeepAsking, NewRecord, Seams
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
    on_asking: KeepAsking | None = None,
) -> web.StreamResponse:
    """Write the turn as response events.

    When the client leaves, what there is of the answer is stored as incomplete.
    """
    encoder = ResponsesEncoder(head, preview=seams.tool_preview, dialect=dialect)
    if isinstance(view.source, RunSource):
        stream = plain_stream(encoder, headers=headers, keepalive=keepalive)
    else:
        kept = KeptResponse(seams, encoder, record)
        stream = kept.stream(headers=headers, keepalive=keepalive, on_asking=on_asking)
    return await write_stream(request, view, stream)


def plain_stream(
    encoder: ResponsesEncoder, *, headers: Mapping[str, str], keepalive: float
) -> Stream:
    """Nothing but the events."""
    return Stream(encoder=encoder, opening=encoder.opening(), keepalive=keepalive, headers=headers)


@dataclass(slots=True)
class KeptResponse:
    """How one streamed response is kept, from its first event to whatever ends it."""

    seams: Seams
    encoder: ResponsesEncoder
    record: NewRecord
    ended: TurnResult | None = None

    def stream(
        self,
        *,
        headers: Mapping[str, str],
        keepalive: float,
        on_asking: KeepAsking | None = None,
    ) -> Stream:
        return Stream(
            encoder=self.encoder,
            opening=self.encoder.opening(),
            keepalive=keepalive,
            headers=headers,
            on_opened=self.save_opened,
            before_end=self.save_final,
            on_asking=on_asking,
            on_left=self.save_left,
        )

    async def save_opened(self) -> None:
        """Store what there is of the response, so that it can be read."""
        await self._save_unfinished("in_progress")

    async def save_final(self, result: TurnResult) -> None:
        self.ended = result
        await self._save(self.encoder.final or self.encoder.snapshot("failed"), result)

    async def save_left(self) -> None:
        if self.ended is None:
            await self._save_unfinished("incomplete")
        else:
            # Only the terminal event was missed; its response is as complete as it was.
            await self.save_final(self.ended)

    async def _save_unfinished(self, status: str) -> None:
        snapshot = self.encoder.snapshot(status)
        await self._save(snapshot, TurnResult(text=_text(snapshot), outcome=Outcome.INTERRUPTED))

    async def _save(self, response: dict[str, Any], result: TurnResult) -> None:
        """A store that fails costs the record; the stream goes on: the answer matters more."""
        try:
            await save(self.seams, response, result, self.record)
        except Exception:  # an embedder's store may raise anything
            log.exception("response not stored", extra={"response_id": response["id"]})


def _text(snapshot: dict[str, Any]) -> str:
    return "".join(
        part.get("text", "")
        for item in snapshot["output"]
        if item["type"] == "message"
        for part in item["content"]
    )
