"""The agent's loop: ask the model, run the tools it calls, ask again, until there is an answer.

Everything that happens is emitted as an event, every finished step is recorded before the next
one begins, and every way to end is an `Outcome`: this function does not raise for what a
provider, a tool or a caller does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hermes.agent.accounts import count, count_reply, refused, stopped_by_budget
from hermes.agent.answer_format import MOST_REPAIRS, correction, fault_of, without_fence
from hermes.agent.fitting import explained, fitted, learnt, made_room
from hermes.agent.keeping import hear, is_steered, keep, keep_reply
from hermes.agent.offering import divided, offer
from hermes.agent.resuming import answered_calls_in, open_calls, replies_in
from hermes.agent.retrying import ask_patiently
from hermes.agent.seams import AgentSeams
from hermes.agent.telling import as_told
from hermes.agent.tooling import clearances, run_tool_calls, with_distinct_ids
from hermes.agent.turn_state import TurnState
from hermes.core import messages
from hermes.core.errors import Interrupted, ProviderError
from hermes.core.events import ApprovalRequested, SegmentEnd, TextDelta
from hermes.core.messages import Content, Message
from hermes.core.turn import AnswerFormat, Failure, Outcome, Resumption, TurnResult
from hermes.fibers import blocking
from hermes.providers.base import Prompt
from hermes.providers.reply import Reply, ToolCall

TRUNCATED = "Response truncated due to output length limit"


def converse(
    seams: AgentSeams, user_message: Content | None, history: Sequence[Message]
) -> TurnResult:
    """Run one turn to its end. Without a user message it goes on with the client's tool results.

    A turn that was begun before goes on where it stopped; its opening is recorded already.
    """
    turn = TurnState([*history])
    result = _turn(seams, turn, user_message)
    if seams.chain.is_elsewhere:
        # The next turn may be the first provider's again, to which this means nothing.
        turn.forget_replays()
        result = replace(result, messages=turn.messages)
    seams.meter.turn_ended(result.outcome.value)
    return result


def _turn(seams: AgentSeams, turn: TurnState, user_message: Content | None) -> TurnResult:
    resumption = seams.parameters.resumption
    try:
        if resumption is not None:
            return _go_on(seams, turn, resumption)
        spent = seams.allowance.exhausted()
        if spent is not None:  # before anything was said or kept
            return refused(seams, turn, spent)
        for answer in seams.parameters.tool_results:
            keep(seams, turn, answer)
        if user_message is not None:
            keep(seams, turn, messages.user(user_message))
        return _run(seams, turn)
    except Interrupted as stop:
        return turn.ended(Outcome.INTERRUPTED, error=seams.stop().reason or str(stop))
    except ProviderError as error:
        failure = Failure(code=error.code, retry_after=error.retry_after)
        return turn.ended(Outcome.FAILED, error=str(error), failure=failure)


def _go_on(seams: AgentSeams, turn: TurnState, resumption: Resumption) -> TurnResult:
    """Answer the calls that were left open, then go on as if nothing had happened."""
    turn.messages += resumption.messages
    turn.usage = resumption.usage
    turn.replies = replies_in(resumption.messages)
    turn.tool_calls = answered_calls_in(resumption.messages)
    calls = open_calls(resumption.messages)
    if calls:
        result = _run_calls(seams, turn, calls, resumption=resumption)
        if result is not None:
            return result
    return _run(seams, turn)


def _run(seams: AgentSeams, turn: TurnState) -> TurnResult:
    elsewhere = seams.chain.begin_turn()
    if elsewhere is not None:
        seams.emit(elsewhere)
        turn.forget_replays()
    for _ in range(turn.replies, seams.max_iterations):
        tokens_left = _tokens_left(seams, turn)
        if tokens_left == 0:
            return turn.ended(Outcome.TRUNCATED, error=TRUNCATED)
        spent = seams.allowance.exhausted()
        if spent is not None:
            return stopped_by_budget(seams, turn, spent)
        reply = _ask(seams, turn, tokens_left)
        result = _ending(seams, turn, reply)
        if result is not None:
            return result
        if not reply.tool_calls:
            continue  # a faulty answer, or somebody said more: the model is asked again
        turn.corrections.clear()
        seams.emit(SegmentEnd())
        result = _run_calls(seams, turn, reply.tool_calls, reply.text or "")
        if result is not None:
            return result
    return turn.ended(
        Outcome.TRUNCATED,
        error=f"Stopped after {seams.max_iterations} model calls (agent.max_iterations); "
        "the work so far is kept, ask to continue.",
    )


def _run_calls(
    seams: AgentSeams,
    turn: TurnState,
    calls: Sequence[ToolCall],
    said: str = "",
    resumption: Resumption | None = None,
) -> TurnResult | None:
    """Answer the server's calls. The turn's result when it has to wait for somebody, else None.

    When one of them has to be asked about, none is made before there is an answer.
    """
    server_calls, client_calls = divided(calls, seams.parameters.client_tools)
    cleared = clearances(seams, server_calls, already=turn.tool_calls, resumption=resumption)
    questions = [
        (call, each.question)
        for call, each in zip(server_calls, cleared, strict=True)
        if each.question is not None
    ]
    approver = seams.approver() if questions else None
    if approver is not None:
        requests = approver.ask(questions)
        for request in requests:
            seams.emit(ApprovalRequested(request))
        return turn.ended(Outcome.ASKING, said, approvals=requests)
    for answer in run_tool_calls(seams, server_calls, cleared):
        keep(seams, turn, answer)
    turn.tool_calls += len(server_calls)
    count(seams, turn, seams.usage_beside())
    question = seams.take_question()
    if question is not None:
        return _asked(seams, turn, question)
    if client_calls:
        return turn.ended(Outcome.WAITING, said, pending=client_calls)
    if seams.link is not None:
        hear(seams, turn, seams.link.take_steers())
    return None


def _asked(seams: AgentSeams, turn: TurnState, question: str) -> TurnResult:
    """The turn ends with a question; the next message answers it."""
    seams.emit(TextDelta(question))
    keep(seams, turn, messages.assistant(question, []))
    return turn.ended(Outcome.COMPLETED, question)


def _tokens_left(seams: AgentSeams, turn: TurnState) -> int | None:
    """What the client allows for the rest of the turn; None: it set no limit."""
    limit = seams.parameters.sampling.max_tokens
    said = turn.usage.output_tokens - turn.aside_tokens
    return None if limit is None else max(limit - said, 0)


def _ask(seams: AgentSeams, turn: TurnState, tokens_left: int | None) -> Reply:
    """One reply, counted, from whoever gives it."""
    if seams.is_interrupted():
        raise Interrupted("The turn was interrupted.")
    turn.api_calls += 1
    prompt: Prompt | None = None

    def request() -> dict[str, Any]:
        nonlocal prompt
        prompt = _prompt(seams, turn, tokens_left)
        return seams.dialect().request(prompt)

    try:
        reply = ask_patiently(
            seams,
            request,
            on_fallback=turn.change_provider,
            compress=lambda failure: made_room(seams, turn, failure.message),
        )
    except ProviderError as error:
        raise explained(seams, turn, error) from error
    if reply.usage is not None:
        learnt(seams, turn, reply.usage)
    count_reply(seams, turn, reply, prompt)
    return with_distinct_ids(reply, turn.messages) if reply.tool_calls else reply


def _ending(seams: AgentSeams, turn: TurnState, reply: Reply) -> TurnResult | None:
    """The turn's result when this reply ends it; None when the model is to be asked again."""
    wanted = seams.parameters.answer_format
    if wanted is not None and reply.text and _is_whole(reply) and not seams.is_interrupted():
        return _checked(seams, turn, reply, wanted)
    keep_reply(seams, turn, reply)
    text = reply.text or ""
    if seams.is_interrupted():
        return turn.ended(Outcome.INTERRUPTED, text, _stop_reason(seams))
    if reply.error is not None:
        return turn.ended(Outcome.FAILED, text, f"The answer broke off: {reply.error}")
    if reply.finish_reason == "length":
        return turn.ended(Outcome.TRUNCATED, text, TRUNCATED)
    if reply.finish_reason == "content_filter":
        return turn.ended(
            Outcome.FAILED,
            text,
            "The provider's content filter stopped the answer.",
            failure=Failure(code="content_filter"),
        )
    if reply.tool_calls:
        return None
    if seams.link is not None and is_steered(seams, turn, seams.link):
        return None
    return turn.ended(Outcome.COMPLETED, text)


def _is_whole(reply: Reply) -> bool:
    """Whether this is an answer, and all of it."""
    return (
        not reply.tool_calls
        and reply.error is None
        and reply.finish_reason not in ("length", "content_filter")
    )


def _checked(
    seams: AgentSeams, turn: TurnState, reply: Reply, wanted: AnswerFormat
) -> TurnResult | None:
    """An answer that has to be JSON. A faulty one is asked for again, unless it was seen."""
    said = reply.text or ""
    text = said if seams.is_watched() else without_fence(said)
    fault = blocking(partial(fault_of, text, wanted))
    if fault is None:
        turn.corrections.clear()
        keep_reply(seams, turn, replace(reply, text=text))
        if seams.link is not None and is_steered(seams, turn, seams.link):
            return None
        return turn.ended(Outcome.COMPLETED, text)
    if seams.is_watched() or turn.repairs >= MOST_REPAIRS:
        keep_reply(seams, turn, reply)
        return turn.ended(
            Outcome.FAILED,
            said,
            f"The model's answer does not have the requested format: {fault}.",
            failure=Failure(code="invalid_structured_output"),
        )
    turn.repairs += 1
    turn.corrections += correction(said, fault, wanted)
    return None


def _prompt(seams: AgentSeams, turn: TurnState, tokens_left: int | None) -> Prompt:
    parameters = seams.parameters
    offered = offer(seams.registry.schemas(), parameters.client_tools)
    prompt = Prompt(
        model=seams.model(),
        system=seams.system_prompt(),
        messages=[*turn.told(), *turn.corrections],
        tools=offered.tools,
        tool_choice=offered.choice,
        parallel_tool_calls=offered.parallel,
        sampling=replace(parameters.sampling, max_tokens=tokens_left)
        if tokens_left is not None
        else parameters.sampling,
        reasoning_effort=seams.reasoning_effort,
        answer_format=parameters.answer_format,
        caching=seams.caching(),
    )
    return as_told(seams, fitted(seams, turn, prompt))


def _stop_reason(seams: AgentSeams) -> str:
    return seams.stop().reason or "The turn was interrupted."
