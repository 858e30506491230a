"""POST /v1/runs as the work of a run, and the works of all routes by their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hermes.core.messages import Message
from hermes.core.ports import SessionStore
from hermes.core.runs import Run
from hermes.core.turn import TurnCall, TurnParameters
from hermes.runs.work import Ending, Work
from hermes.server import chat_work, response_work, session_work
from hermes.server.attachments import settle_attachments
from hermes.server.question import Question, asked_in, kept_question, own_messages
from hermes.server.response_request import find_chain, outside
from hermes.server.routing import refuse_unseen_images, route_model
from hermes.server.seams import Seams
from hermes.server.session_compaction import compact_if_long
from hermes.server.session_store import in_store
from hermes.wire.conversation import refuse_stray_results
from hermes.wire.run_requests import RunRequest, parse_run

KIND = "run"
BULK = frozenset({"input", "conversation_history"})
SOURCE = "api_server"


@dataclass(slots=True, kw_only=True)
class RunWork:
    seams: Seams
    question: Question
    wants_text: bool = True

    async def wait(self, run: Run) -> None:
        """The run itself tells of it."""

    async def call(self, run: Run) -> TurnCall:
        seams, body = self.seams, self.question.body
        asked = parse_run(body, None, await outside(seams, body.get("input")))
        alias = route_model(seams, asked.model).alias
        said = await settle_attachments([*asked.history, *_opening(asked)], seams)
        earlier, prompt = await self._before(asked, run)
        count = len(said) - len(_opening(asked))
        history = [*earlier, *said[:count]]
        refuse_stray_results(history, asked.tool_results, param="input")
        call = TurnCall(
            user_message=None if asked.user_message is None else said[-1]["content"],
            history=history,
            system_prompt=_prompt(asked, prompt),
            session_id=run.session_id or run.id,
            session_key=self.question.caller.session_key,
            parameters=TurnParameters(
                persist=run.session_id is not None,
                tool_results=tuple(asked.tool_results),
                alias=alias,
                budget=asked.budget,
            ),
        )
        refuse_unseen_images(seams, alias, [*history, *call.opening], param="input")
        return call

    async def begin(self, run: Run) -> None:
        """The log tells all there is."""

    async def end(self, run: Run, ending: Ending) -> None:
        if run.session_id is not None:
            self.seams.runs.keep(compact_if_long(self.seams, run.session_id))

    async def _before(self, asked: RunRequest, run: Run) -> tuple[list[Message], str | None]:
        """The turns before this one, and the instructions that still hold."""
        if run.session_id is not None:
            return await self._of_session(run), None
        chain = await find_chain(
            self.seams, (asked.previous_response_id, None), self.question.caller, {}
        )
        return list(chain.history), chain.instructions

    async def _of_session(self, run: Run) -> list[Message]:
        session_id, own = str(run.session_id), own_messages(run)
        others: dict[str, Any] = {} if own is None else {"without_run": own}

        def load(store: SessionStore) -> list[Message]:
            # A session that does not exist yet begins with this run.
            store.create_session(session_id, SOURCE)
            return store.get_messages_as_conversation(session_id, **others)

        return await in_store(self.seams, load)


def _opening(asked: RunRequest) -> list[Message]:
    return [] if asked.user_message is None else [{"role": "user", "content": asked.user_message}]


def _prompt(asked: RunRequest, inherited: str | None) -> str | None:
    lasting = inherited if asked.instructions is None else asked.instructions
    said = [prompt for prompt in (lasting, asked.added_instructions) if prompt is not None]
    return "\n\n".join(said) if said else None


def run_question(question: Question) -> dict[str, Any]:
    return kept_question(question, {}, bulk=BULK)


def run_work(seams: Seams, run: Run) -> RunWork:
    return RunWork(seams=seams, question=asked_in(run))


_WORKS: Mapping[str, Callable[[Seams, Run], Work]] = MappingProxyType(
    {
        chat_work.KIND: chat_work.chat_work,
        response_work.KIND: response_work.response_work,
        session_work.KIND: session_work.session_work,
        KIND: run_work,
    }
)


def work_for(seams: Seams, run: Run) -> Work:
    """What is to be done in a run that outlived the process or the request it was begun in."""
    return _WORKS[run.kind](seams, run)
