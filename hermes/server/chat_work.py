"""A chat completion as the work of a kept run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.runs import Run
from hermes.core.turn import TurnCall
from hermes.runs.work import Ending
from hermes.server.attachments import settle_chat
from hermes.server.chat_turn import memory_call, stored_call
from hermes.server.dialects import with_reasoning
from hermes.server.question import Question, asked_in, kept_question, own_messages
from hermes.server.routing import route_model
from hermes.server.seams import Seams
from hermes.server.session_compaction import compact_if_long
from hermes.server.stored_chats import keep
from hermes.server.turns import stored_history
from hermes.wire.chat import ChatHead, ChatRequest, parse_chat

log = logging.getLogger(__name__)

KIND = "chat"
BULK = frozenset({"messages"})


@dataclass(slots=True, kw_only=True)
class ChatWork:
    """For one leg of a run: `head` names the completion it makes."""

    seams: Seams
    question: Question
    """What the run was begun with."""
    head: ChatHead
    wants_text: bool
    asked: ChatRequest | None = None
    """The question, where it has been read already."""

    async def wait(self, run: Run) -> None:
        """Nothing tells of a completion before it is there."""

    async def call(self, run: Run) -> TurnCall:
        seams, caller = self.seams, self.question.caller
        asked = await self._asked()
        alias = route_model(seams, asked.model).alias
        if run.session_id is None:
            call = memory_call(seams, asked, caller, alias=alias)
        else:
            history = await stored_history(seams, run.session_id, without_run=own_messages(run))
            call = stored_call(seams, asked, caller, run.session_id, history, alias=alias)
        return with_reasoning(call) if self.question.dialect.shows_reasoning() else call

    async def begin(self, run: Run) -> None:
        if self.head.id != run.resource_id:
            await self.seams.runs.in_store(lambda store: store.add_resource(run.id, self.head.id))

    async def end(self, run: Run, ending: Ending) -> None:
        if run.session_id is not None:
            self.seams.runs.keep(compact_if_long(self.seams, run.session_id))
        asked = await self._asked()
        if not asked.parameters.store:
            return
        try:
            await keep(self.seams, self.head, asked, ending.result)
        except Exception:  # an embedder's store may raise anything; the answer matters more
            log.exception("chat completion not stored", extra={"run_id": run.id})

    async def _asked(self) -> ChatRequest:
        if self.asked is None:
            self.asked = await settle_chat(parse_chat(self.question.body), self.seams)
        return self.asked


def chat_input(question: Question, head: ChatHead) -> dict[str, Any]:
    named = {"id": head.id, "model": head.model, "created": head.created}
    return kept_question(question, named, bulk=BULK)


def head_of(run: Run) -> ChatHead:
    """The completion that the run was begun for."""
    kept: Mapping[str, Any] = run.input["head"]
    return ChatHead(id=kept["id"], model=kept["model"], created=kept["created"])


def chat_work(seams: Seams, run: Run) -> ChatWork:
    """For a run that outlived the process it was begun in."""
    question = asked_in(run)
    return ChatWork(
        seams=seams,
        question=question,
        head=head_of(run),
        wants_text=bool(question.body.get("stream")),
    )
