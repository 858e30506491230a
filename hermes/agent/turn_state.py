"""The growing state of one turn, and how it becomes a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hermes.agent.context import Telling
from hermes.core.approvals import ApprovalRequest
from hermes.core.messages import Message, settle_open_calls
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.core.usage import NO_USAGE, Usage
from hermes.providers.reply import ToolCall


@dataclass(slots=True)
class TurnState:
    """What has happened so far."""

    messages: list[Message]
    usage: Usage = NO_USAGE
    api_calls: int = 0
    replies: int = 0
    """How often the model had answered before this agent took the turn up."""
    tool_calls: int = 0
    said: list[str] = field(default_factory=list)
    """The texts of the model's replies, in order."""
    has_unknown_cost: bool = False
    """Whether the reader was told that a limit on cost cannot be held."""
    repairs: int = 0
    """How often an answer was asked for again because it could not be used."""
    corrections: list[Message] = field(default_factory=list)
    """Said to the model about answers that could not be used; not kept."""
    aside_tokens: int = 0
    """What of the output is no part of the answer: summaries of what was said before."""
    telling: Telling = field(default_factory=Telling)

    def settled(self) -> list[Message]:
        """The messages as a provider takes them: every call has its answer."""
        return settle_open_calls(self.messages)

    def told(self) -> list[Message]:
        """What the model is told of them; all of them, unless they were too long for it."""
        return self.telling.shortened.followed_by(self.settled())

    def change_provider(self) -> None:
        """Another provider goes on, in a call of its own."""
        self.api_calls += 1
        self.forget_replays()

    def forget_replays(self) -> None:
        """What one provider wants to see again, and how much it took, mean nothing to another."""
        self.messages = _without_replays(self.messages)
        shortened = self.telling.shortened
        told = tuple(_without_replays(shortened.told))
        self.telling = Telling(replace(shortened, told=told))

    def ended(
        self,
        outcome: Outcome,
        text: str = "",
        error: str | None = None,
        *,
        failure: Failure | None = None,
        pending: Sequence[ToolCall] = (),
        approvals: Sequence[ApprovalRequest] = (),
    ) -> TurnResult:
        return TurnResult(
            text=text,
            outcome=outcome,
            error=error,
            failure=failure,
            pending=tuple(call.as_message_part() for call in pending),
            approvals=approvals,
            messages=self.messages,
            usage=self.usage,
            api_calls=self.api_calls,
        )


def _without_replays(messages: Sequence[Message]) -> list[Message]:
    return [
        {key: value for key, value in message.items() if key != "replay"} for message in messages
    ]
