"""What the house needs of a store of runs. One conformance suite holds for every engine.

Unless said otherwise a call may block and is committed when it returns. Times are Unix times. A
store is used by one *worker* per process: what it claims is its own until it ends or its lease
does; a worker whose lease was taken away is *fenced*, and nothing it writes is kept any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.events import Event
from hermes.core.runs import (
    LoggedEvent,
    NewRun,
    Run,
    RunPage,
    RunQuery,
    RunStatus,
    Submitted,
)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event on its way into a log, already numbered by the run's only owner."""

    run_id: str
    seq: int
    at: float
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A run that waits for a decision, and what it waits for."""

    run: Run
    requests: tuple[ApprovalRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """The answer to a request that made something else than a run."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RunStore(Protocol):
    # --- asking for runs ----------------------------------------------------------------------

    def submit(self, new: NewRun) -> Submitted:
        """Keep a run as queued, in one transaction with its idempotency key.

        Raises `IdempotencyConflict` when the key was used with another body, and `SessionBusy`
        when the session is at work and the run does not want to wait.
        """

    def is_repeated(self, new: NewRun) -> bool:
        """Whether the same request made a run before, under the same idempotency key.

        Raises `IdempotencyConflict` like `submit`.
        """

    def get(self, run_id: str, *, owner: str | None = None) -> Run | None:
        """`owner`: None finds the run whoever it belongs to."""

    def find(self, resource_id: str, *, owner: str | None = None) -> Run | None:
        """The run that made this completion or response; the newest, if there are several."""

    def add_resource(self, run_id: str, resource_id: str) -> None:
        """A run that goes on makes another completion or response: `find` knows that one too."""

    def unfinished(self, status: RunStatus) -> list[Run]:
        """All runs that are queued, or that wait for approval; the oldest first."""

    def page(self, query: RunQuery) -> RunPage | None:
        """None when there is no run `query.after`."""

    def active(self, session_id: str) -> Run | None:
        """The run that the session is at work on: running, stopping or waiting for approval."""

    def place(self, run_id: str) -> int:
        """How many runs come before this queued one in its session."""

    def request_stop(self, run_id: str) -> Run | None:
        """A queued run is cancelled, a running one is stopping, a finished one is left alone.

        A run that waits for approval is cancelled, with its question. The log of a cancelled run
        has its end, and before it what was decided about that question.
        """

    def delete_session(self, session_id: str) -> int:
        """Remove the finished runs of a session with their logs, and its grants; how many runs."""

    # --- the log ------------------------------------------------------------------------------

    def append(self, events: Sequence[NewEvent]) -> Future[None]:
        """Add events of this worker's runs, all or nothing. Returns at once.

        The future is done when they are committed; it fails with `Fenced` when this worker is no
        longer the owner. A queued run, which has no owner yet, is anybody's. An event that is
        there already (same run and number) is left as it is; one that would leave a hole fails.
        """

    def read(self, run_id: str, *, after: int = 0, limit: int = 500) -> list[LoggedEvent]:
        """Committed events with higher numbers, in order, never over a gap.

        Raises `EventsGone` when some of those asked for were deleted.
        """

    def read_kinds(self, run_id: str, kinds: Collection[str]) -> list[LoggedEvent]:
        """All committed events of these types (see `event_json`), whatever else was deleted."""

    # --- doing the work -----------------------------------------------------------------------

    def register(self, worker: str, *, lease_seconds: float) -> None:
        """Begin as a new worker; `ValueError` when there was one of this name before."""

    def heartbeat(self) -> list[str]:
        """Keep the lease; the runs of this worker that are to stop. Raises `Fenced`."""

    def claim(self, limit: int) -> list[Run]:
        """Take up to `limit` queued runs, oldest first, one per session: they are running now."""

    def take_up(self, run_id: str, *, from_status: RunStatus = RunStatus.QUEUED) -> Run | None:
        """Take one run; None when it is not in this state or others of its session come first.

        Besides queued runs: those that wait for approval, whose open questions are denied as
        `superseded`, and running ones of this worker, which were orphans. Each has one more
        attempt then.
        """

    def set_input(self, run_id: str, value: Mapping[str, Any]) -> None:
        """What was not known when the run was submitted. Of this worker's runs only."""

    def finish(self, status: RunStatus, last: NewEvent) -> Future[None]:
        """The end of a run: its state, its answer and its last event, a `TurnEnded`, at once.

        What its input has under `request`, also inside `later`, is dropped: it may be large, and is
        only needed to run it.

        Returns at once, like `append`, and fails like it.
        """

    def pause(self, last: NewEvent) -> Future[None]:
        """Wait for decisions about the approvals in the result of `last`, a `TurnPaused`.

        The run has no owner meanwhile. Returns at once, like `append`, and fails like it.
        """

    def orphans(self) -> list[Run]:
        """Runs whose worker is gone, now owned by this one. For the start, and for a reaper."""

    def requeue(self, run_id: str) -> None:
        """Give a run of this worker back to the queue."""

    # --- approvals ----------------------------------------------------------------------------

    def waiting(self, run_id: str) -> Waiting | None:
        """What a run waits for; None when it does not wait."""

    def find_waiting(self, *, code: str, owner: str) -> Waiting | None:
        """By the code that people were shown, in upper case. Also what was decided already."""

    def expired_approvals(self, now: float) -> list[Waiting]:
        """Runs some of whose questions nobody answered in time, with these questions.

        And runs that wait although all is decided, without any: whoever decided has died since.
        """

    def decide(self, approval_id: str, decision: Decision, *, by: str) -> bool:
        """True for the first decision only, and only while the run waits.

        Lasting ones become grants in the same transaction.
        """

    def decisions(self, run_id: str) -> dict[str, Decision]:
        """What was decided in a run, by call id."""

    def grants(self, owner: str, session_id: str | None) -> tuple[Grant, ...]: ...

    # --- answers that are no runs -------------------------------------------------------------

    def kept_answer(self, owner: str, scope: str, key: str, fingerprint: str) -> KeptAnswer | None:
        """Raises `IdempotencyConflict` for another fingerprint."""

    def keep_answer(
        self, owner: str, scope: str, key: str, fingerprint: str, answer: KeptAnswer
    ) -> None: ...

    def forget_key(self, run_id: str) -> None:
        """Let the request that made this run be carried out again under the same key."""

    # --- housekeeping -------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        """Delete what is too old or too much: keys, deltas of finished runs, finished runs."""

    def close(self) -> None: ...
