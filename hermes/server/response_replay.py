"""The events of a response once more: those that are stored, then those that still happen."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from aiohttp import web

from hermes.core.errors import InvalidRequest
from hermes.runs.live_responses import LiveResponse
from hermes.server.seams import Seams
from hermes.server.streaming import SSE_HEADERS, Write
from hermes.wire.replay import SentEvent, error_frame, missing_end, sent_events
from hermes.wire.sse import DONE, KEEPALIVE

log = logging.getLogger(__name__)


class _Replay:
    """Passes on events in their order, each once, after a given number."""

    def __init__(self, write: Write, after: int) -> None:
        self._write = write
        self._after = after
        self._last = -1
        self.has_ended = False

    @property
    def next_number(self) -> int:
        return self._last + 1

    async def pass_on(self, frames: bytes) -> None:
        if frames == KEEPALIVE:
            await self._write(frames)
            return
        fresh = [event for event in sent_events(frames) if self._is_fresh(event)]
        if fresh:
            await self._write(b"".join(event.frame for event in fresh))

    def _is_fresh(self, event: SentEvent) -> bool:
        if event.number <= self._last:
            return False
        self._last = event.number
        self.has_ended = self.has_ended or event.is_end
        return event.number > self._after


async def follow(
    request: web.Request,
    seams: Seams,
    live: LiveResponse,
    *,
    headers: Mapping[str, str],
    after: int,
) -> web.StreamResponse:
    """Stream a response that is being made. Whoever follows may leave; the turn goes on."""
    follower = live.follow()
    response = web.StreamResponse(status=200, headers={**SSE_HEADERS, **headers})
    try:
        passed = _Replay(response.write, after)
        stored = await _stored(seams, live.id)
        await response.prepare(request)
        await passed.pass_on(stored)
        async for frames in follower:
            await passed.pass_on(frames)
        await _close(seams, live.id, passed, response.write)
    except OSError:
        log.info("follower left", extra={"response_id": live.id})
    finally:
        live.leave(follower)
    return response


async def replay(
    request: web.Request, seams: Seams, response_id: str, *, headers: Mapping[str, str], after: int
) -> web.StreamResponse:
    """Stream the stored events of a response that is over, with their original numbers."""
    stored = await _stored(seams, response_id)
    if not stored:
        raise InvalidRequest(
            "The events of this response are not stored: it was not streamed, or too many others "
            "were since. GET it without 'stream'.",
            param="stream",
            code="events_not_stored",
        )
    response = web.StreamResponse(status=200, headers={**SSE_HEADERS, **headers})
    await response.prepare(request)
    passed = _Replay(response.write, after)
    await passed.pass_on(stored)
    await _close(seams, response_id, passed, response.write)
    return response


async def _stored(seams: Seams, response_id: str) -> bytes:
    return await seams.storage.run(lambda: seams.responses().events.read(response_id))


async def _close(seams: Seams, response_id: str, passed: _Replay, write: Write) -> None:
    """A stream that was cut short still ends with an event that says how."""
    ending = b""
    if not passed.has_ended:
        record = await seams.storage.run(lambda: seams.responses().get(response_id))
        ending = (
            error_frame("The response was deleted.", "response_not_found", passed.next_number)
            if record is None
            else missing_end(record["response"], passed.next_number).frame
        )
    await write(ending + DONE)
