"""Everything that can happen in a turn, as one closed union of immutable values.

A turn is a log of these events. Every wire (chat completions, responses, session chat) is an
encoder that walks this union; every producer only ever emits its members.

The laws of a log, enforced by `Laws` and relied on by every encoder:

* `TurnEnded` comes last, and exactly once;
* after `TurnPaused` the turn goes on with `RunStarted`, or ends;
* a `ToolFinished` follows the `ToolStarted` with the same call id, once;
* `SegmentEnd` closes a run of text, never a turn;
* `Idle` carries nothing and is never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.changes import FileChange
from hermes.core.messages import Message
from hermes.core.turn import TurnResult
from hermes.core.usage import Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, exactly as the model wrote it."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class SegmentEnd:
    """The text so far is complete; tools or another model call follow."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is about to run on the server."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """Something worth showing between a tool's start and its end."""

    kind: str
    tool_name: str | None = None
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The tool that started under this call id is done; `output` is what the model will read."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    output: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the reader should know that is not part of the answer: a retry, a fallback."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """A tool changed files; what they were can be restored."""

    call_id: str
    changes: tuple[FileChange, ...]
    root: str = ""
    """The workspace it worked in; empty: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRan:
    """A tool ran a command to its end."""

    call_id: str
    command: str
    directory: str
    exit_code: int | None
    """Negative: the signal that ended it. None: nobody knows."""
    seconds: float
    untracked: str | None = None
    """Why it is not known which files it changed; None: it is."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """Something happened in the turn of a sub-agent, which the call `call_id` began."""

    call_id: str
    event: Event


@dataclass(frozen=True, slots=True)
class MessageKept:
    """A message of the turn is final: a finished step, from which the turn could go on."""

    message: Message
    used: Usage | None = None
    """With a message of the model: what the turn had used by then, in all."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call will not be made before somebody says so."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """Somebody decided about a call, or nobody did in time."""

    approval_id: str
    call_id: str
    decision: Decision
    by: str
    """`client`, `timeout`, or `superseded` when something else was said instead."""


@dataclass(frozen=True, slots=True)
class SteerAccepted:
    """Somebody said something while the agent worked; it will hear it at the next safe point."""

    steer_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Steered:
    """The agent has been told what somebody said while it worked."""

    steer_id: str
    text: str


@dataclass(frozen=True, slots=True)
class RunQueued:
    """The run waits for others of its session, or for a free place."""

    place: int


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The agent is at work: for the first time, after a decision, or after a restart."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing happened for a while; the line is still open."""


@dataclass(frozen=True, slots=True)
class TurnPaused:
    """The turn waits for a decision; what the client is told meanwhile is in the result."""

    result: TurnResult


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over; nothing follows."""

    result: TurnResult
    status: str | None = None
    """The final `RunStatus` of a durable run, by its value; None in a turn that is not kept."""


Event = (
    TextDelta
    | ReasoningDelta
    | SegmentEnd
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | Notice
    | FilesChanged
    | CommandRan
    | Delegated
    | MessageKept
    | ApprovalRequested
    | ApprovalDecided
    | SteerAccepted
    | Steered
    | RunQueued
    | RunStarted
    | Idle
    | TurnPaused
    | TurnEnded
)

Emit = Callable[[Event], None]
"""Takes one event. May be called from any thread; must not block and must not raise."""


def is_internal(tool_name: str) -> bool:
    """Tools whose names start with an underscore are the agent's own business and never shown."""
    return tool_name.startswith("_")


class Laws:
    """Decides, event by event, what may enter one log. One instance per log."""

    def __init__(self) -> None:
        self._open_calls: set[str] = set()
        self._ended = False

    def admits(self, event: Event) -> bool:
        """True when `event` keeps the log lawful; the caller drops what does not."""
        if self._ended:
            return False
        if isinstance(event, TextDelta):
            return bool(event.text)
        if isinstance(event, ToolStarted):
            return self._opens(event.call_id)
        if isinstance(event, ToolFinished):
            return self._closes(event.call_id)
        if isinstance(event, TurnEnded):
            self._ended = True
        return True

    def _opens(self, call_id: str) -> bool:
        if call_id in self._open_calls:
            return False
        self._open_calls.add(call_id)
        return True

    def _closes(self, call_id: str) -> bool:
        if call_id not in self._open_calls:
            return False
        self._open_calls.remove(call_id)
        return True
