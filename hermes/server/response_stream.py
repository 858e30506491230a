"""The streamed form of a response: stored early, and stored again however the stream ends.

While it is stored its events are, too, and others may follow them (`hermes.runs.live_responses`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.turn import Outcome, TurnResult
from hermes.runs.live_responses import Fate, LiveResponse
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
    async with opened(seams, encoder, view, record) as live:
        kept = KeptResponse(seams, encoder, record, live)
        stream = kept.stream(headers=headers, keepalive=keepalive)
        return await write_stream(request, view, stream)


@asynccontextmanager
async def opened(
    seams: Seams, encoder: ResponsesEncoder, view: TurnView, record: NewRecord
) -> AsyncIterator[LiveResponse | None]:
    """While the block lasts, a response that is to be stored can be followed, and stopped."""
    if not record.store:
        yield None
        return

    async def stop(reason: str) -> None:
        view.interrupt(reason)

    live = LiveResponse(
        encoder.response_id,
        logs=lambda: seams.responses().events,
        stop=stop,
        snapshot=lambda: encoder.snapshot("in_progress"),
    )
    seams.live.open(live)
    try:
        yield live
    finally:
        seams.live.close(live)


@dataclass(slots=True)
class KeptResponse:
    """How one streamed response is kept, from its first event to whatever ends it."""

    seams: Seams
    encoder: ResponsesEncoder
    record: NewRecord
    live: LiveResponse | None
    ended: TurnResult | None = None

    def stream(self, *, headers: Mapping[str, str], keepalive: float) -> Stream:
        return Stream(
            encoder=self.encoder,
            opening=self.encoder.opening(),
            keepalive=keepalive,
            headers=headers,
            on_opened=self.save_opened,
            before_end=self.save_final,
            on_left=self.save_left,
            tee=None if self.live is None else self.live.add,
        )

    async def save_opened(self) -> bool:
        """Store what there is of the response, so that it can be read; False if that failed."""
        is_stored = await self._save_unfinished("in_progress")
        if is_stored and self.live is not None:
            self.live.begin_storing()
        return is_stored

    async def save_final(self, result: TurnResult) -> None:
        self.ended = result
        await self._save(self.encoder.final or self.encoder.snapshot("failed"), result)

    async def save_left(self) -> None:
        if self.ended is None:
            await self._save_unfinished("incomplete")
        else:
            # Only the terminal event was missed; its response is as complete as it was.
            await self.save_final(self.ended)

    async def save_cancelled(self) -> None:
        await self._save_unfinished("cancelled")

    async def _save_unfinished(self, status: str) -> bool:
        snapshot = self.encoder.snapshot(status)
        return await self._save(
            snapshot, TurnResult(text=_text(snapshot), outcome=Outcome.INTERRUPTED)
        )

    async def _save(self, response: dict[str, Any], result: TurnResult) -> bool:
        """A store that fails costs the record; the stream goes on: the answer matters more."""
        if self.live is not None and self.live.fate is Fate.DELETED:
            return False
        try:
            await save(self.seams, response, result, self.record)
        except Exception:  # an embedder's store may raise anything
            log.exception("response not stored", extra={"response_id": response["id"]})
            return False
        return True


def _text(snapshot: dict[str, Any]) -> str:
    return "".join(
        part.get("text", "")
        for item in snapshot["output"]
        if item["type"] == "message"
        for part in item["content"]
    )
