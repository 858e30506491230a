"""The growing state of one turn, and how it becomes a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hermes.core.approvals import ApprovalRequest
from hermes.core.messages import Message
from hermes.core.turn import Failure, Outcome, TurnResult, Usage
from hermes.providers.reply import ToolCall


@dataclass(slots=True)
class TurnState:
    """What has happened so far."""

    messages: list[Message]
    usage: Usage = field(default_factory=Usage)
    api_calls: int = 0
    replies: int = 0
    """How often the model had answered before this agent took the turn up."""
    tool_calls: int = 0
    corrections: list[Message] = field(default_factory=list)
    """Said to the model about answers that could not be used; not kept."""

    def change_provider(self) -> None:
        """Another provider goes on, in a call of its own."""
        self.api_calls += 1
        self.forget_replays()

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
