"""What happens while a CLI agent works, as a closed union; and how it ended.

Drivers turn the output of their CLI into these. Nothing a CLI prints makes a driver raise: what it
does not know becomes `Told("unknown_line", …)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hermes.core.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class Started:
    """The CLI is at work. May be told again, for instance before each turn of its own."""

    session_id: str | None = None
    model: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the answer. All pieces of a message add up to it, each said exactly once."""

    text: str


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """A message of the model is complete; `text` is all of it, as the CLI gives it."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The CLI runs one of its own tools. Never a call that a client should make."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool of the CLI's is done."""

    call_id: str
    name: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionAsked:
    """The CLI waits for somebody to allow a call; answer with `Peer.answer`."""

    id: str
    """The CLI's name for the question."""
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    shown: str
    """Exactly what would be done: the command, the path."""
    reason: str
    """Why it asks, in words for a person, to be read after "it": `wants to run a command`."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something the reader should know that is not part of the answer: a retry, a denial.

    Codes: `cli_retry`, `cli_denied`, `cli_warning`, `unknown_line`.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Concluded:
    """The CLI says that it is done. It may go on all the same, and conclude again."""


Event = (
    Started
    | Said
    | MessageEnded
    | Thought
    | ToolCalled
    | ToolAnswered
    | PermissionAsked
    | Told
    | Concluded
)


@dataclass(frozen=True, slots=True)
class Write:
    """Send this to the process."""

    data: bytes


@dataclass(frozen=True, slots=True)
class CloseInput:
    """Nothing more will be sent."""


Step = Write | CloseInput


class EndKind(Enum):
    """How a job ended."""

    ANSWERED = "answered"
    TRUNCATED = "truncated"
    """At a limit: turns, budget, output length. What there is is a beginning."""
    REFUSED = "refused"
    """The provider's safeguards stopped it."""
    STOPPED = "stopped"
    """Because we said so."""
    FAILED = "failed"


class StopReason(Enum):
    """Why we put an end to a job."""

    ASKED = "It was stopped."
    NO_START = "It printed nothing after its start."
    IDLE = "It was silent for too long."
    TOO_LONG = "It took too long."
    TOO_MUCH = "It printed too much."
    SHUTDOWN = "The gateway is shutting down."

    @property
    def is_fault(self) -> bool:
        """Whether this is a failure of the CLI's and not somebody's wish."""
        return self not in (StopReason.ASKED, StopReason.SHUTDOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """What is known of a process that is gone."""

    code: int | None
    """Negative: the signal that ended it. 0 also where we ended it after its last word.
    None: it could not be ended."""
    stderr: str = ""
    """The end of it, without secrets."""
    stopped: StopReason | None = None
    last_line_is_whole: bool = True
    """Whether its output ended with a line feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What came of a job: the exit code and the CLI's last result both had a say."""

    kind: EndKind
    text: str = ""
    """The answer as the CLI gives it; with another kind, what there is of it."""
    unsaid: str = ""
    """What of it no `Said` has said."""
    error: str | None = None
    """Why there is no answer, in words for the caller; without secrets."""
    code: str | None = None
    """A stable name for it: `rate_limited`, `authentication`, `overloaded`, `bad_request`,
    `context_overflow`, `network`, `max_turns`, `budget_exhausted`, `cli_crashed`,
    `cli_output_truncated`, `cli_garbage`, `cli_timeout`, `cli_session_unknown`."""
    retry_after: float | None = None
    usage: Usage = NO_USAGE
    """Of this job alone, also when its session is an old one."""
    session_usage: Usage = NO_USAGE
    """Of its whole session, where the CLI only tells that: the next `CliSession.used_before`."""
    session_id: str | None = None
    """Under which the CLI would go on; None: it would not."""
