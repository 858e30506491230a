"""Chat completions that are kept as runs: begun, gone on with, and shown to whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aiohttp import web

from hermes.core.runs import Idempotency, NewRun
from hermes.core.turn import Outcome, TurnCall, TurnParameters, TurnResult
from hermes.runs.engine import Begun
from hermes.runs.passing import PassingRun
from hermes.runs.turns import LiveTurn
from hermes.server.answers import json_answer
from hermes.server.asking import Answer, decide
from hermes.server.chat_work import KIND, ChatWork, chat_input, head_of
from hermes.server.honesty import ignored_headers
from hermes.server.question import Question, asked_in
from hermes.server.routing import Routed
from hermes.server.run_views import leg_result, source_of
from hermes.server.seams import ChatStream, Seams
from hermes.server.submitting import idempotency_of, new_run, run_headers
from hermes.server.turns import session_headers, stream_headers
from hermes.wire.chat import (
    ChatHead,
    ChatRequest,
    completion,
    incomplete_headers,
)
from hermes.wire.run_policies import RunPolicies
from hermes.wire.transcript import turn_messages
from hermes.wire.turn_errors import turn_error


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAsked:
    """A chat request that was understood, and how it is to be answered."""

    question: Question
    asked: ChatRequest
    head: ChatHead
    policies: RunPolicies
    routed: Routed

    @property
    def parameters(self) -> TurnParameters:
        """What the request says about the model's work."""
        wanted = self.asked.parameters
        return TurnParameters(
            sampling=wanted.sampling,
            reasoning_effort=wanted.reasoning_effort,
            alias=self.routed.alias,
        )


async def begin(
    request: web.Request, seams: Seams, chat: ChatAsked, session_id: str | None
) -> web.StreamResponse:
    """A new run for this request, or the one that the same request made before."""
    work = ChatWork(
        seams=seams,
        question=chat.question,
        head=chat.head,
        asked=chat.asked,
        wants_text=chat.asked.stream,
    )
    new = new_chat_run(seams, chat, session_id, await idempotency_of(request))
    begun = await seams.runs.submit(new, work)
    head = head_of(begun.run) if begun.is_replayed else chat.head
    return await _show(request, seams, replace(chat, head=head), begun)


async def go_on(
    request: web.Request, seams: Seams, chat: ChatAsked, answer: Answer
) -> web.StreamResponse:
    """The run that waited for this message; it makes another completion."""
    run = answer.waiting.run
    work = ChatWork(
        seams=seams, question=asked_in(run), head=chat.head, wants_text=chat.asked.stream
    )
    begun = await decide(seams, answer, work)
    return await _show(request, seams, chat, begun)


async def keep_paused(
    seams: Seams, chat: ChatAsked, call: TurnCall, run: PassingRun, result: TurnResult
) -> None:
    """A turn that ran from memory has to ask: from now on it is kept, so that it can go on."""
    new = replace(new_chat_run(seams, chat, None), id=run.id)
    messages = turn_messages(call.history, call.opening, result)
    await seams.runs.keep_paused(new, run.feed.happened(), messages, result)
    seams.passing.forget(run.id)


def new_chat_run(
    seams: Seams, chat: ChatAsked, session_id: str | None, idempotency: Idempotency | None = None
) -> NewRun:
    return new_run(
        kind=KIND,
        owner=chat.question.caller.owner,
        kept=chat_input(chat.question, chat.head),
        model=chat.head.model,
        policies=chat.policies,
        seams=seams,
        disconnect=seams.run_settings.disconnect_chat,
        session_id=session_id,
        resource_id=chat.head.id,
        metadata=chat.asked.parameters.metadata,
        idempotency=idempotency,
    )


def whole_answer(
    chat: ChatAsked, result: TurnResult, session_id: str | None, said: Mapping[str, str]
) -> web.Response:
    """The completion in one piece; a turn without a usable answer is an error."""
    if result.outcome is Outcome.FAILED or (not result.is_complete and not result.text):
        raise turn_error(result, said)
    shows_reasoning = chat.question.dialect.shows_reasoning()
    answer = completion(chat.head, result, shows_reasoning=shows_reasoning)
    named = session_headers(result.session_id or session_id, chat.question.caller.session_key)
    return json_answer(answer, headers={**named, **incomplete_headers(result), **said})


async def _show(
    request: web.Request, seams: Seams, chat: ChatAsked, begun: Begun
) -> web.StreamResponse:
    run = begun.run
    said = {
        **chat.routed.headers,
        **ignored_headers(request, seams, chat.parameters, chat.asked.parameters.ignored),
        **run_headers(begun),
    }
    if not chat.asked.stream:
        result = await leg_result(seams.runs, begun)
        return whole_answer(chat, result, run.session_id, said)
    source = await source_of(seams.runs, begun)
    named = session_headers(run.session_id, chat.question.caller.session_key)
    stream = ChatStream(
        head=chat.head,
        turn=LiveTurn(source, source.result, source.agent_ref),
        include_usage=chat.asked.include_usage,
        headers=stream_headers(request, seams, {**named, **said}),
        dialect=chat.question.dialect,
    )
    return await seams.write_chat(request, stream)
