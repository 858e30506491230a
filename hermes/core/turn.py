"""A turn: what is asked of the agent, and what came of it. All that server and agent share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from hermes.core.messages import Content, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParameters:
    """How a turn is to be run, as far as a request may say so."""

    persist: bool = False
    """Whether the turn's messages belong to a stored session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCall:
    """One request to the agent."""

    user_message: Content
    history: Sequence[Message] = ()
    system_prompt: str | None = None
    session_id: str | None = None
    session_key: str | None = None
    parameters: TurnParameters = field(default_factory=TurnParameters)


class Outcome(Enum):
    """How a turn ended: one fact, not three booleans."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    """The model stopped at a limit (output length, iteration budget): the text is a beginning."""
    INTERRUPTED = "interrupted"
    """Somebody stopped the turn."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, summed over the model calls of a turn."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What a turn produced."""

    text: str = ""
    """The final answer; with another outcome than COMPLETED, what there is of it."""
    outcome: Outcome = Outcome.COMPLETED
    error: str | None = None
    """Why the outcome is not COMPLETED, in words for the caller."""
    messages: Sequence[Message] = ()
    """The transcript: the history the agent was given, then this turn (or this turn only)."""
    usage: Usage = field(default_factory=Usage)
    session_id: str | None = None
    api_calls: int = 0

    @property
    def is_complete(self) -> bool:
        return self.outcome is Outcome.COMPLETED
