"""The agent's loop: ask the model, run the tools it calls, ask again, until there is an answer.

Everything that happens is emitted as an event, every finished step is recorded before the next
one begins, and every way to end is an `Outcome`: this function does not raise for what a
provider, a tool or a caller does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hermes.agent.retrying import ask_patiently
from hermes.agent.seams import AgentSeams
from hermes.agent.tooling import run_tool_calls
from hermes.core import messages
from hermes.core.errors import Interrupted, ProviderError
from hermes.core.events import Notice, SegmentEnd
from hermes.core.messages import Content, Message
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.providers.base import Prompt
from hermes.providers.reply import Reply

TRUNCATED = "Response truncated due to output length limit"


@dataclass(slots=True)
class _Turn:
    """The growing state of one turn."""

    messages: list[Message]
    usage: Usage = field(default_factory=Usage)
    api_calls: int = 0

    def forget_replays(self) -> None:
        """What one provider wants to see again means nothing to another."""
        self.messages = [
            {key: value for key, value in message.items() if key != "replay"}
            for message in self.messages
        ]

    def ended(self, outcome: Outcome, text: str = "", error: str | None = None) -> TurnResult:
        return TurnResult(
            text=text,
            outcome=outcome,
            error=error,
            messages=self.messages,
            usage=self.usage,
            api_calls=self.api_calls,
        )


def converse(seams: AgentSeams, user_message: Content, history: Sequence[Message]) -> TurnResult:
    """Run one turn to its end."""
    turn = _Turn([*history])
    _keep(seams, turn, messages.user(user_message))
    try:
        for _ in range(seams.max_iterations):
            reply = _ask(seams, turn)
            result = _ending(seams, turn, reply)
            if result is not None:
                return result
            seams.emit(SegmentEnd())
            for answer in run_tool_calls(seams, reply.tool_calls):
                _keep(seams, turn, answer)
    except Interrupted:
        return turn.ended(Outcome.INTERRUPTED, error=_stop_reason(seams))
    except ProviderError as error:
        return turn.ended(Outcome.FAILED, error=str(error))
    return turn.ended(
        Outcome.TRUNCATED,
        error=f"Stopped after {seams.max_iterations} model calls (agent.max_iterations); "
        "the work so far is kept, ask to continue.",
    )


def _ask(seams: AgentSeams, turn: _Turn) -> Reply:
    """One reply, counted and recorded; from the fallback model when the first one fails."""
    while True:
        if seams.is_interrupted():
            raise Interrupted("The turn was interrupted.")
        turn.api_calls += 1
        try:
            reply = ask_patiently(seams, seams.dialect().request(_prompt(seams, turn)))
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
        if reply.text or reply.tool_calls:
            _keep(seams, turn, _as_message(reply))
        return reply


def _ending(seams: AgentSeams, turn: _Turn, reply: Reply) -> TurnResult | None:
    """The turn's result when this reply ends it; None when its tools are to be run."""
    text = reply.text or ""
    if seams.is_interrupted():
        return turn.ended(Outcome.INTERRUPTED, text, _stop_reason(seams))
    if reply.error is not None:
        return turn.ended(Outcome.FAILED, text, f"The answer broke off: {reply.error}")
    if reply.finish_reason == "length":
        return turn.ended(Outcome.TRUNCATED, text, TRUNCATED)
    if reply.finish_reason == "content_filter":
        return turn.ended(Outcome.FAILED, text, "The provider's content filter stopped the answer.")
    if reply.tool_calls:
        return None
    return turn.ended(Outcome.COMPLETED, text)


def _prompt(seams: AgentSeams, turn: _Turn) -> Prompt:
    return Prompt(
        model=seams.model(),
        system=seams.system_prompt(),
        messages=messages.settle_open_calls(turn.messages),
        tools=seams.registry.schemas(),
        reasoning_effort=seams.reasoning_effort,
    )


def _as_message(reply: Reply) -> Message:
    message = messages.assistant(reply.text, [call.as_message_part() for call in reply.tool_calls])
    if reply.replay is not None:
        message["replay"] = reply.replay
    return message


def _keep(seams: AgentSeams, turn: _Turn, message: Message) -> None:
    turn.messages.append(message)
    seams.record(message)


def _stop_reason(seams: AgentSeams) -> str:
    return seams.stop().reason or "The turn was interrupted."
