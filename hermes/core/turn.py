"""A turn: what is asked of the agent, and what came of it. All that server and agent share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.budgets import NO_BUDGET, Budget
from hermes.core.messages import Content, Message, user
from hermes.core.usage import Usage as Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the model chooses its words. None leaves it to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """For the whole answer, over all model calls of the turn."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFormat:
    """The answer must be JSON; with a schema, JSON that keeps to it."""

    name: str = "answer"
    schema: Mapping[str, Any] | None = None
    strict: bool = False
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTools:
    """Tools that the client runs itself. A call to one of them ends the turn."""

    tools: tuple[dict[str, Any], ...] = ()
    """Definitions in the chat-completions shape."""
    choice: str | dict[str, Any] = "auto"
    """`auto`, `none`, `required`, or a function by name in the chat-completions shape."""
    parallel: bool | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(str(tool["function"]["name"]) for tool in self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A turn that was begun before: it paused for a decision, or its process died."""

    messages: tuple[Message, ...]
    """All of the turn so far, its opening included. They are recorded already."""
    started: frozenset[str]
    """The calls whose tool was begun. One of them without an answer has an unknown outcome and is
    never made again; one that was not begun is still to be made."""
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """What was said about calls that had to be asked about, by call id."""
    decided_by: Mapping[str, str] = field(default_factory=dict)
    """Who decided, as in `ApprovalDecided`; a call that is missing was decided by the client."""
    steps: int = 0
    """How many messages were recorded: the next one has this number."""
    usage: Usage = field(default_factory=Usage)
    """What was used before."""
    calls: int = 0
    """How many model calls that took, where it is known."""
    seconds: float = 0.0
    """How long the agent was at work before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParameters:
    """How a turn is to be run, as far as a request may say so."""

    persist: bool = False
    """Whether the turn's messages belong to a stored session."""
    sampling: Sampling = field(default_factory=Sampling)
    answer_format: AnswerFormat | None = None
    """None: any text will do."""
    reasoning_effort: str | None = None
    client_tools: ClientTools = field(default_factory=ClientTools)
    tool_results: tuple[Message, ...] = ()
    """Tool messages that answer the client's calls of the turn before."""
    compact_threshold: int | None = None
    """From how many tokens on the client wants its conversation made shorter for the model."""
    max_tool_calls: int | None = None
    """How many calls of the server's tools the turn may make."""
    keeps_reasoning: bool = False
    """Whether what the model thinks stays with its messages, under `reasoning`."""
    alias: str | None = None
    """The configured model alias that answers; None: the agent itself."""
    owner: str = "default"
    """The name of the key that asked: what needs approval may depend on it."""
    is_plain: bool = False
    """The model alone: no tools of the server, no identity, nothing kept."""
    can_ask: bool = False
    """Whether somebody can be asked for approval; otherwise what would have to be is denied."""
    grants: tuple[Grant, ...] = ()
    """What was approved before, for longer than once."""
    resumption: Resumption | None = None
    budget: Budget = NO_BUDGET
    """What the request itself allows; it can only lower what is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCall:
    """One request to the agent."""

    user_message: Content | None
    """None: nothing new is said; the turn goes on with `parameters.tool_results`."""
    history: Sequence[Message] = ()
    system_prompt: str | None = None
    session_id: str | None = None
    session_key: str | None = None
    parameters: TurnParameters = field(default_factory=TurnParameters)

    @property
    def opening(self) -> list[Message]:
        """The messages this turn begins with."""
        said = [] if self.user_message is None else [user(self.user_message)]
        return [*self.parameters.tool_results, *said]


class Outcome(Enum):
    """How a turn ended: one fact, not three booleans."""

    COMPLETED = "completed"
    WAITING = "waiting"
    """The model called tools of the client; the next turn brings their results."""
    ASKING = "asking"
    """A call needs a person's approval; the turn goes on with the decision."""
    TRUNCATED = "truncated"
    """The model stopped at a limit (output length, iteration budget): the text is a beginning."""
    INTERRUPTED = "interrupted"
    """Somebody stopped the turn."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a turn failed, as far as the one who asked can do something about it."""

    code: str
    """A stable name: `rate_limited`, `context_overflow`, `invalid_structured_output` …"""
    retry_after: float | None = None
    """Seconds after which the same request may succeed, where the provider said so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What a turn produced."""

    text: str = ""
    """The final answer; with another outcome than COMPLETED, what there is of it."""
    outcome: Outcome = Outcome.COMPLETED
    error: str | None = None
    """Why there is no whole answer, in words for the caller."""
    failure: Failure | None = None
    """With FAILED or TRUNCATED, more about it, where more is known."""
    pending: Sequence[dict[str, Any]] = ()
    """With WAITING, the client's calls in the chat-completions shape."""
    approvals: Sequence[ApprovalRequest] = ()
    """With ASKING, what has to be decided."""
    messages: Sequence[Message] = ()
    """The transcript: the history the agent was given, then this turn (or this turn only)."""
    usage: Usage = field(default_factory=Usage)
    session_id: str | None = None
    api_calls: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the model said all it wanted to say."""
        return self.outcome in (Outcome.COMPLETED, Outcome.WAITING, Outcome.ASKING)
