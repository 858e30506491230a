"""A run: one turn as a resource with an id, a state and a log that outlives the process.

The store of runs is described in `hermes.core.run_ports`; what happens in a run in
`hermes.core.events`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hermes.core.events import Event
from hermes.core.turn import TurnResult

LONGEST_GRACE = 86_400.0
"""Seconds. Whoever wants more wants `detach`."""
_SECONDS = re.compile(r"[0-9]{1,5}(\.[0-9]{1,3})?")


class RunStatus(Enum):
    """Where a run stands. The last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    STOPPING = "stopping"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Somebody stopped it."""
    INTERRUPTED = "interrupted"
    """The server went away while it ran."""

    @property
    def is_final(self) -> bool:
        return self in _FINAL


_FINAL = frozenset(
    {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.INTERRUPTED}
)
OPEN = frozenset(RunStatus) - _FINAL
"""The states of a run that is not over."""


class WhenBusy(Enum):
    """What becomes of a request in a session that is at work already."""

    QUEUE = "queue"
    REJECT = "reject"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True)
class Disconnect:
    """What becomes of a run when its last viewer leaves: it may go on for `grace` seconds."""

    grace: float | None = 0.0
    """0: stop at once. None: never stop."""

    @classmethod
    def parse(cls, text: str) -> Disconnect:
        """`cancel`, `detach` or `grace:<seconds>`; `ValueError` for anything else."""
        word, colon, seconds = text.strip().lower().partition(":")
        if not colon and word in ("cancel", "detach"):
            return cls(0.0 if word == "cancel" else None)
        if word != "grace" or not _SECONDS.fullmatch(seconds) or float(seconds) > LONGEST_GRACE:
            raise ValueError(f"no disconnect policy: {text!r}")
        return cls(float(seconds))

    def __str__(self) -> str:
        if self.grace is None:
            return "detach"
        return f"grace:{self.grace:.9g}" if self.grace else "cancel"


CANCEL, DETACH = Disconnect(0.0), Disconnect(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A request that must not be carried out twice."""

    key: str
    scope: str
    """Route and session: the same key means something else elsewhere."""
    fingerprint: str
    """Of the body: another one under the same key is a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be kept."""

    id: str
    kind: str
    """Which route asked: `chat`, `response`, `session_chat`, `run`."""
    owner: str
    """Whose key asked for it; nobody else sees it."""
    session_id: str | None = None
    """The session (or conversation) in which only one run may be active at a time."""
    resource_id: str | None = None
    """What the route calls its answer: the id of the completion or response."""
    input: Mapping[str, Any] = field(default_factory=dict)
    """All that is needed to run it, or to run it on, in another process. JSON.

    What is called `request`, here or under `later`, is dropped when the run is over.
    """
    metadata: Mapping[str, str] = field(default_factory=dict)
    disconnect: Disconnect = DETACH
    when_busy: WhenBusy = WhenBusy.QUEUE
    timeout: float | None = None
    """Seconds it may run."""
    idempotency: Idempotency | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A kept run as it stands."""

    id: str
    kind: str
    owner: str
    status: RunStatus
    session_id: str | None
    resource_id: str | None
    input: Mapping[str, Any]
    metadata: Mapping[str, str]
    disconnect: Disconnect
    timeout: float | None
    attempt: int
    """How often it was taken up; 0 while it waits for the first time."""
    last_seq: int
    """The number of its newest event; 0 before there is one."""
    is_stop_requested: bool
    created_at: float
    started_at: float | None
    finished_at: float | None
    output: str
    """The final text, or what there is of it."""
    error: Mapping[str, Any] | None
    """`code` and `message` of what went wrong."""
    usage: Mapping[str, Any]
    has_all_events: bool
    """False once a part of its log was deleted to save space."""


def error_of(status: RunStatus, result: TurnResult) -> dict[str, str] | None:
    """What a run says went wrong, from the state it ended in and the result of its turn."""
    if result.failure is None and result.error is None:
        return None
    if result.failure is not None:
        code = result.failure.code
    elif status in (RunStatus.CANCELLED, RunStatus.INTERRUPTED):
        code = status.value
    else:
        code = "agent_incomplete"
    return {"code": code, "message": result.error or ""}


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of a run with its place in the log. Numbers begin with 1 and have no gap."""

    seq: int
    at: float
    """Unix time."""
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a submitted run."""

    run: Run
    replayed: bool = False
    """The same request was made before; this is its run."""
    place: int = 0
    """How many runs of the session come first; 0: none."""
    interrupts: str | None = None
    """A run that has to be stopped for this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """Which runs are wanted, newest first."""

    owner: str
    limit: int
    after: str | None = None
    """The id of the last run of the page before."""
    statuses: frozenset[RunStatus] = frozenset()
    """Empty: all."""
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    runs: list[Run]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRetention:
    """How long runs are kept, and how much of them. Seconds count from the end of a run."""

    keep_deltas_seconds: float = 86_400.0
    """The pieces of the answer, which the result has as a whole."""
    keep_runs_seconds: float = 30 * 86_400.0
    max_bytes: int = 1 << 30
    """Of the whole store. The oldest finished runs make room: first their deltas, then all."""
    keep_keys_seconds: float = 86_400.0
    """Idempotency keys, from their first use."""
