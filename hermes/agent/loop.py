"""The agent's loop: ask the model, run the tools it calls, ask again, until there is an answer.

Everything that happens is emitted as an event, every finished step is recorded before the next
one begins, and every way to end is an `Outcome`: this function does not raise for what a
provider, a tool or a caller does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from hermes.agent.answer_format import MOST_REPAIRS, correction, fault_of, without_fence
from hermes.agent.offering import divided, offer
from hermes.agent.retrying import ask_patiently
from hermes.agent.seams import AgentSeams
from hermes.agent.tooling import run_tool_calls
from hermes.core import messages
from hermes.core.errors import Interrupted, ProviderError
from hermes.core.events import Notice, SegmentEnd
from hermes.core.messages import Content, Message
from hermes.core.turn import AnswerFormat, Failure, Outcome, TurnResult, Usage
from hermes.fibers import blocking
from hermes.providers.base import Prompt
from hermes.providers.reply import Reply, ToolCall

TRUNCATED = "Response truncated due to output length limit"


@dataclass(slots=True)
class _Turn:
    """The growing state of one turn."""

    messages: list[Message]
    usage: Usage = field(default_factory=Usage)
    api_calls: int = 0
    tool_calls: int = 0
    corrections: list[Message] = field(default_factory=list)
    """Said to the model about answers that could not be used; not kept."""

    def forget_replays(self) -> None:
        """What one provider wants to see again means nothing to another."""
        self.messages = [
            {key: value for key, value in message.items() if key != "replay"}
            for message in self.messages
        ]

    def ended(
        self,
        outcome: Outcome,
        text: str = "",
        error: str | None = None,
        *,
        failure: Failure | None = None,
        pending: Sequence[ToolCall] = (),
    ) -> TurnResult:
        return TurnResult(
            text=text,
            outcome=outcome,
            error=error,
            failure=failure,
            pending=tuple(call.as_message_part() for call in pending),
            messages=self.messages,
            usage=self.usage,
            api_calls=self.api_calls,
        )


def converse(
    seams: AgentSeams, user_message: Content | None, history: Sequence[Message]
) -> TurnResult:
    """Run one turn to its end. Without a user message it goes on with the client's tool results."""
    turn = _Turn([*history])
    for answer in seams.parameters.tool_results:
        _keep(seams, turn, answer)
    if user_message is not None:
        _keep(seams, turn, messages.user(user_message))
    try:
        return _run(seams, turn)
    except Interrupted:
        return turn.ended(Outcome.INTERRUPTED, error=_stop_reason(seams))
    except ProviderError as error:
        failure = Failure(code=error.code, retry_after=error.retry_after)
        return turn.ended(Outcome.FAILED, error=str(error), failure=failure)


def _run(seams: AgentSeams, turn: _Turn) -> TurnResult:
    for _ in range(seams.max_iterations):
        tokens_left = _tokens_left(seams, turn)
        if tokens_left == 0:
            return turn.ended(Outcome.TRUNCATED, error=TRUNCATED)
        reply = _ask(seams, turn, tokens_left)
        result = _ending(seams, turn, reply)
        if result is not None:
            return result
        if not reply.tool_calls:
            continue  # a faulty answer: the model is told, and asked again
        turn.corrections.clear()
        seams.emit(SegmentEnd())
        server_calls, client_calls = divided(reply.tool_calls, seams.parameters.client_tools)
        for answer in run_tool_calls(seams, server_calls, already=turn.tool_calls):
            _keep(seams, turn, answer)
        turn.tool_calls += len(server_calls)
        if client_calls:
            return turn.ended(Outcome.WAITING, reply.text or "", pending=client_calls)
    return turn.ended(
        Outcome.TRUNCATED,
        error=f"Stopped after {seams.max_iterations} model calls (agent.max_iterations); "
        "the work so far is kept, ask to continue.",
    )


def _tokens_left(seams: AgentSeams, turn: _Turn) -> int | None:
    """What the client allows for the rest of the turn; None: it set no limit."""
    limit = seams.parameters.sampling.max_tokens
    return None if limit is None else max(limit - turn.usage.output_tokens, 0)


def _ask(seams: AgentSeams, turn: _Turn, tokens_left: int | None) -> Reply:
    """One reply, counted; from the fallback model when the first one fails."""
    while True:
        if seams.is_interrupted():
            raise Interrupted("The turn was interrupted.")
        turn.api_calls += 1
        try:
            prompt = _prompt(seams, turn, tokens_left)
            reply = ask_patiently(seams, seams.dialect().request(prompt))
        except ProviderError as error:
            fallback = seams.use_fallback()
            if fallback is None:
                raise
            seams.emit(Notice("provider_fallback", f"{error} Continuing with {fallback}."))
            turn.forget_replays()
            continue
        if reply.usage is not None:
            turn.usage += reply.usage
            seams.count(reply.usage)
        return reply


def _ending(seams: AgentSeams, turn: _Turn, reply: Reply) -> TurnResult | None:
    """The turn's result when this reply ends it; None when the model is to be asked again."""
    wanted = seams.parameters.answer_format
    if wanted is not None and reply.text and _is_whole(reply) and not seams.is_interrupted():
        return _checked(seams, turn, reply, wanted)
    _keep_reply(seams, turn, reply)
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
    return turn.ended(Outcome.COMPLETED, text)


def _is_whole(reply: Reply) -> bool:
    """Whether this is an answer, and all of it."""
    return (
        not reply.tool_calls
        and reply.error is None
        and reply.finish_reason not in ("length", "content_filter")
    )


def _checked(
    seams: AgentSeams, turn: _Turn, reply: Reply, wanted: AnswerFormat
) -> TurnResult | None:
    """An answer that has to be JSON. A faulty one is asked for again, unless it was seen."""
    said = reply.text or ""
    text = said if seams.is_watched() else without_fence(said)
    fault = blocking(partial(fault_of, text, wanted))
    if fault is None:
        turn.corrections.clear()
        _keep_reply(seams, turn, replace(reply, text=text))
        return turn.ended(Outcome.COMPLETED, text)
    if seams.is_watched() or len(turn.corrections) >= 2 * MOST_REPAIRS:
        _keep_reply(seams, turn, reply)
        return turn.ended(
            Outcome.FAILED,
            said,
            f"The model's answer does not have the requested format: {fault}.",
            failure=Failure(code="invalid_structured_output"),
        )
    turn.corrections += correction(said, fault)
    return None


def _prompt(seams: AgentSeams, turn: _Turn, tokens_left: int | None) -> Prompt:
    parameters = seams.parameters
    offered = offer(seams.registry.schemas(), parameters.client_tools)
    return Prompt(
        model=seams.model(),
        system=seams.system_prompt(),
        messages=[*messages.settle_open_calls(turn.messages), *turn.corrections],
        tools=offered.tools,
        tool_choice=offered.choice,
        parallel_tool_calls=offered.parallel,
        sampling=replace(parameters.sampling, max_tokens=tokens_left)
        if tokens_left is not None
        else parameters.sampling,
        reasoning_effort=seams.reasoning_effort,
        answer_format=parameters.answer_format,
    )


def _keep_reply(seams: AgentSeams, turn: _Turn, reply: Reply) -> None:
    if not reply.text and not reply.tool_calls:
        return
    calls = [call.as_message_part() for call in reply.tool_calls]
    message = messages.assistant(reply.text, calls)
    if reply.replay is not None:
        message["replay"] = reply.replay
    if reply.reasoning and seams.parameters.keeps_reasoning:
        message["reasoning"] = reply.reasoning
    _keep(seams, turn, message)


def _keep(seams: AgentSeams, turn: _Turn, message: Message) -> None:
    turn.messages.append(message)
    seams.record(message)


def _stop_reason(seams: AgentSeams) -> str:
    return seams.stop().reason or "The turn was interrupted."
