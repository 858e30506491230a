"""A turn in a stored session as the work of a kept run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermes.core.ports import SessionStore
from hermes.core.runs import Run
from hermes.core.turn import TurnCall, TurnParameters
from hermes.runs.work import Ending
from hermes.server.attachments import settle_session_chat
from hermes.server.question import Question, asked_in, kept_question, own_messages
from hermes.server.routing import refuse_unseen_images, route_model
from hermes.server.seams import Seams
from hermes.server.session_compaction import compact_if_long
from hermes.server.session_store import existing, in_store
from hermes.wire.sessions import parse_session_chat

KIND = "session_chat"
BULK = frozenset({"message"})


@dataclass(slots=True, kw_only=True)
class SessionWork:
    seams: Seams
    question: Question
    """What the run was begun with."""
    wants_text: bool

    async def wait(self, run: Run) -> None:
        """The session tells of the turn once it has begun."""

    async def call(self, run: Run) -> TurnCall:
        seams, session_id = self.seams, str(run.session_id)
        asked = await settle_session_chat(parse_session_chat(self.question.body), seams)
        alias = route_model(seams, asked.model).alias
        own = own_messages(run)
        others: dict[str, Any] = {} if own is None else {"without_run": own}

        def load(store: SessionStore) -> list[dict[str, Any]]:
            existing(store, session_id)
            return store.get_messages_as_conversation(session_id, **others)

        call = TurnCall(
            user_message=asked.user_message,
            history=await in_store(seams, load),
            system_prompt=asked.system_prompt,
            session_id=session_id,
            session_key=self.question.caller.session_key,
            parameters=TurnParameters(persist=True, alias=alias, budget=asked.budget),
        )
        refuse_unseen_images(seams, alias, [*call.history, *call.opening], param="message")
        return call

    async def begin(self, run: Run) -> None:
        """The agent records its messages itself, each when it is final."""

    async def end(self, run: Run, ending: Ending) -> None:
        """The messages are in the session; a long one is made shorter beside the requests."""
        self.seams.runs.keep(compact_if_long(self.seams, str(run.session_id)))


def session_input(question: Question) -> dict[str, Any]:
    return kept_question(question, {}, bulk=BULK)


def session_work(seams: Seams, run: Run) -> SessionWork:
    """For a run that outlived the process it was begun in."""
    return SessionWork(seams=seams, question=asked_in(run), wants_text=True)
