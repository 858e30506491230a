"""GET /v1/responses as a WebSocket: turn after turn on one connection.

A client sends `{"type": "response.create", …}` and receives the events of a stream as messages.
Closing the connection stops the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from aiohttp import WSMsgType, web

from hermes.core.errors import ApiError, InvalidRequest
from hermes.core.runs import CANCEL
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.turns import LiveTurn, start_into
from hermes.server.asking import decide
from hermes.server.kept_response import (
    further_work,
    heard,
    keep_if_deeds,
    keep_paused,
    new_response_run,
)
from hermes.server.question import Question, question_of
from hermes.server.response_request import Chain, Prepared, prepare
from hermes.server.response_stream import plain_stream
from hermes.server.response_work import KIND, ResponseWork
from hermes.server.run_views import source_of
from hermes.server.seams import KeepAsking, Seams
from hermes.server.streaming import TurnView, left, result_of, view_of, write_turn
from hermes.wire.body import parse_object
from hermes.wire.errors import envelope
from hermes.wire.replay import sent_events
from hermes.wire.responses import turn_messages
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.run_policies import RunPolicies

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 30.0
MOST_WAITING = 16
"""Requests that may wait for the one at work; further ones are not read before there is room."""
MOST_REMEMBERED = 32


async def converse(request: web.Request, seams: Seams) -> web.StreamResponse:
    socket = web.WebSocketResponse(
        heartbeat=HEARTBEAT_SECONDS, max_msg_size=request.client_max_size
    )
    if not socket.can_prepare(request).ok:
        raise InvalidRequest(
            "GET /v1/responses is a WebSocket; use POST to make a response without one.",
            code="websocket_required",
        )
    await socket.prepare(request)
    await _Connection(request, seams, socket).serve()
    return socket


class _Connection:
    """One client: its requests one after the other, and what it said without having it stored."""

    def __init__(self, request: web.Request, seams: Seams, socket: web.WebSocketResponse) -> None:
        self._request = request
        self._seams = seams
        self._socket = socket
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING)
        self._remembered: OrderedDict[str, Chain] = OrderedDict()

    async def serve(self) -> None:
        reader = asyncio.create_task(self._read())
        try:
            while (said := await self._waiting.get()) is not None:
                if not await self._answered_before_end(said, reader):
                    return
        finally:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader

    async def _read(self) -> None:
        """Reads ahead, because only a reader notices that the other side has gone."""
        async for message in self._socket:
            if message.type is WSMsgType.TEXT:
                await self._waiting.put(message.data)
            else:
                await self._send_error(InvalidRequest("Send JSON as text messages."))
        with suppress(asyncio.QueueFull):
            self._waiting.put_nowait(None)

    async def _answered_before_end(self, said: str, reader: asyncio.Task[None]) -> bool:
        """Answer one request; False when the client left before it was answered."""
        turn = asyncio.create_task(self._answer(said))
        try:
            await asyncio.wait({turn, reader}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not turn.done():
                turn.cancel()
            with suppress(asyncio.CancelledError):
                await turn
        return not turn.cancelled()

    async def _answer(self, said: str) -> None:
        previous: Any = None
        try:
            body = _create_request(said)
            previous = body.get("previous_response_id")
            self._seams.admit_turn()
            question = question_of(self._request, self._seams, body)
            prepared = await prepare(self._seams, question, self._remembered)
            result = await self._run(question, prepared)
        except ApiError as error:
            self._forget(previous)
            await self._send_error(error)
        except OSError:
            log.info("socket closed during a turn")
        except Exception:  # the outermost edge of a turn: the connection outlives it
            log.exception("websocket request failed")
            self._forget(previous)
            await self._send_error(
                ApiError("The gateway failed to answer this request; its log says why.")
            )
        else:
            self._settle(prepared, result)

    async def _run(self, question: Question, prepared: Prepared) -> TurnResult:
        """A client that leaves stops its turn, kept or not."""
        seams = self._seams
        view, keep_asking = await self._view(question, prepared)
        encoder = ResponsesEncoder(
            prepared.head, preview=seams.tool_preview, dialect=prepared.dialect
        )
        plain = plain_stream(encoder, headers={}, keepalive=seams.keepalive_seconds())
        stream = replace(plain, on_asking=keep_asking)
        try:
            await write_turn(self._write, view, stream)
        except BaseException:
            await left(view, stream)
            raise
        finally:
            view.close()
        return await result_of(view)

    async def _view(
        self, question: Question, prepared: Prepared
    ) -> tuple[TurnView, KeepAsking | None]:
        seams = self._seams
        # A stream is what the client gets, whatever its request says.
        asked = replace(question, body={**question.body, "stream": True})
        answer, prepared = await heard(seams, question, prepared)
        if answer is not None:
            work = further_work(seams, asked, prepared, answer)
            return (await source_of(seams.runs, await decide(seams, answer, work))).view, None
        if not prepared.record.store:
            await seams.accounting.refuse_spent(prepared.owner, None, seams.storage)
            return self._from_memory(asked, prepared)
        work = ResponseWork(seams=seams, question=asked, head=prepared.head, prepared=prepared)
        new = new_response_run(seams, asked, prepared, RunPolicies(disconnect=CANCEL))
        return (await source_of(seams.runs, await seams.runs.submit(new, work))).view, None

    def _from_memory(
        self, question: Question, prepared: Prepared
    ) -> tuple[TurnView, KeepAsking | None]:
        seams = self._seams
        place = seams.gate.entered(prepared.owner)
        run = seams.passing.begin(KIND, prepared.owner, prepared.head.model, prepared.head.id)
        run.task = start_into(run.feed, run.agent_ref, seams.run_turn, prepared.call)
        view = view_of(LiveTurn(run.feed, run.task, run.agent_ref))
        keep_if_deeds(seams, question, prepared, run)
        keep_asking = partial(keep_paused, seams, question, prepared, run)

        def close() -> None:
            place.leave()
            run.end()

        return replace(view, close=close), keep_asking

    def _settle(self, prepared: Prepared, result: TurnResult) -> None:
        """Remember what only this connection may continue; a failed continuation forgets."""
        if result.outcome is Outcome.FAILED:
            self._forget(prepared.asked.previous_response_id)
            return
        if prepared.record.store:
            return
        record = prepared.record
        turn = turn_messages(record.given_history, record.opening, result)
        self._remembered[prepared.head.id] = Chain(
            previous_id=prepared.head.id,
            history=(*record.whole_history, *turn),
            instructions=record.instructions,
            session_id=record.session_id,
        )
        while len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    def _forget(self, response_id: Any) -> None:
        if isinstance(response_id, str):
            self._remembered.pop(response_id, None)

    async def _write(self, frames: bytes) -> None:
        for event in sent_events(frames):
            await self._socket.send_str(event.data.decode())

    async def _send_error(self, error: ApiError) -> None:
        # What a message names and is not there makes the message wrong, not the path.
        status = 400 if error.status == 404 else error.status
        described = {"type": "error", "status": status, "sequence_number": 0, **envelope(error)}
        with suppress(OSError):
            await self._socket.send_json(described)


def _create_request(said: str) -> dict[str, Any]:
    body = parse_object(said.encode(errors="surrogatepass"))
    kind = body.pop("type", None)
    if kind != "response.create":
        raise InvalidRequest(
            "The 'type' of a message must be 'response.create'.", param="type", code="invalid_value"
        )
    if body.get("background"):
        raise InvalidRequest(
            "background: true is not possible on a WebSocket; use POST /v1/responses.",
            param="background",
            code="unsupported_parameter",
        )
    return body
