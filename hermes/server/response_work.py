"""A response as the work of a kept run: stored when it begins, and again however it ends.

What is stored of a streamed response is made from the log, so it is what every viewer has seen.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.events import TurnEnded
from hermes.core.run_ports import RunStore
from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import Outcome, TurnCall, TurnResult
from hermes.runs.work import Ending
from hermes.server.dialects import with_reasoning
from hermes.server.question import Question, asked_in, kept_question, read_question
from hermes.server.response_records import finished_response, save
from hermes.server.response_request import Prepared, prepare
from hermes.server.seams import Seams
from hermes.wire.response_echo import parse_echo
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder

log = logging.getLogger(__name__)

KIND = "response"
BULK = frozenset({"input"})


@dataclass(slots=True, kw_only=True)
class ResponseWork:
    """For one leg of a run: `head` names the response it makes."""

    seams: Seams
    question: Question
    head: ResponseHead
    prepared: Prepared | None = None
    """The question, where it has been understood already and nothing happened since."""
    origin: Question | None = None
    """What the run was begun with, where this question is only a decision about it."""
    response: dict[str, Any] | None = None
    """What was stored last."""

    @property
    def wants_text(self) -> bool:
        body = self.question.body
        return bool(body.get("stream") or body.get("background"))

    async def wait(self, run: Run) -> None:
        if self.head.echo.background:
            await self._save(await self._prepare(), self._unfinished("queued"))
        self.prepared = None  # what it continues may be another then

    async def call(self, run: Run) -> TurnCall:
        prepared = await self._prepare()
        if self.origin is None:
            call = prepared.call
        else:
            call = (await prepare(self.seams, self.origin)).call
        return with_reasoning(call) if self._keeps_reasoning(prepared) else call

    async def begin(self, run: Run) -> None:
        if self.origin is not None:
            kept = response_input(self.question, self.head)
            value = {**run.input, "later": {**kept, "after": run.last_seq}}

            def note(store: RunStore) -> None:
                store.set_input(run.id, value)
                store.add_resource(run.id, self.head.id)

            await self.seams.runs.in_store(note)
        if self.wants_text:
            await self._save(await self._prepare(), self._unfinished("in_progress"))

    async def end(self, run: Run, ending: Ending) -> None:
        prepared, result = await self._prepare(), ending.result
        if self.wants_text:
            encoder = self.encoder(await ending.read_leg())
            encoder.encode(TurnEnded(result, ending.status.value), ending.at)
            response = encoder.final or encoder.snapshot("failed")
        elif result.outcome is Outcome.FAILED or ending.status is RunStatus.CANCELLED:
            return  # nobody was told of it
        else:
            response = finished_response(
                self.head,
                result,
                prepared.record,
                form=prepared.dialect.forms.responses,
                preview=self.seams.tool_preview,
                ended_at=ending.at,
            )
        await self._save(prepared, response, result)

    def encoder(self, events: Iterable[LoggedEvent]) -> ResponsesEncoder:
        """The stream as far as it went."""
        return encoder_after(self.seams, self.head, self.question, events)

    def _unfinished(self, status: str) -> dict[str, Any]:
        return self.encoder(()).snapshot(status)

    def _keeps_reasoning(self, prepared: Prepared) -> bool:
        return prepared.shows_reasoning and not self.wants_text

    async def _prepare(self) -> Prepared:
        if self.prepared is None:
            self.prepared = await prepare(self.seams, self.question)
        return self.prepared

    async def _save(
        self, prepared: Prepared, response: dict[str, Any], result: TurnResult | None = None
    ) -> None:
        """A store that fails costs the record; the turn goes on: the answer matters more."""
        self.response = response
        told = result or TurnResult(outcome=Outcome.INTERRUPTED)
        try:
            await save(self.seams, response, told, prepared.record)
        except Exception:  # an embedder's store may raise anything
            log.exception("response not stored", extra={"response_id": response["id"]})


def encoder_after(
    seams: Seams, head: ResponseHead, question: Question, events: Iterable[LoggedEvent]
) -> ResponsesEncoder:
    """An encoder that has been through these events."""
    encoder = ResponsesEncoder(head, preview=seams.tool_preview, dialect=question.dialect)
    encoder.opening()
    for logged in events:
        encoder.encode(logged.event)
    return encoder


def response_input(question: Question, head: ResponseHead) -> dict[str, Any]:
    named = {
        "id": head.id,
        "created_at": head.created_at,
        "model": head.model,
        "previous_response_id": head.previous_response_id,
        "instructions": head.instructions,
        "conversation": head.conversation,
    }
    return kept_question(question, named, bulk=BULK)


def head_of(kept: Mapping[str, Any]) -> ResponseHead:
    """The response that a run makes, from what is kept of it."""
    return ResponseHead(**kept["head"], echo=parse_echo(kept["body"]))


def response_work(seams: Seams, run: Run) -> ResponseWork:
    """For a run that outlived the process it was begun in."""
    later = run.input.get("later")
    if later is None:
        return ResponseWork(seams=seams, question=asked_in(run), head=head_of(run.input))
    return ResponseWork(
        seams=seams,
        question=read_question(later, run.owner),
        head=head_of(later),
        origin=asked_in(run),
    )
