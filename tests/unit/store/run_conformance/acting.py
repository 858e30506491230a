"""What tests of a run store do all the time, in a word each."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from hermes.core.approvals import ApprovalRequest
from hermes.core.events import Event, TextDelta, TurnEnded, TurnPaused
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import Idempotency, NewRun, Run, RunStatus, WhenBusy
from hermes.core.turn import Outcome, TurnResult

PATIENCE = 20.0


def new(run_id: str, session_id: str | None = "s", **more: Any) -> NewRun:
    return NewRun(
        **{"id": run_id, "kind": "run", "owner": "anna", "session_id": session_id, **more}
    )


def interrupting(run_id: str) -> NewRun:
    return new(run_id, when_busy=WhenBusy.INTERRUPT)


def keyed(run_id: str, key: str, fingerprint: str = "body", **more: Any) -> NewRun:
    idempotency = Idempotency(key=key, scope="POST /v1/runs", fingerprint=fingerprint)
    return new(run_id, None, idempotency=idempotency, **more)


def begun(store: RunStore, run_id: str, session_id: str | None = "s", **more: Any) -> Run:
    """A run that is submitted and taken up."""
    store.submit(new(run_id, session_id, **more))
    run = store.take_up(run_id)
    assert run is not None
    return run


def deltas(run_id: str, first: int, last: int) -> list[NewEvent]:
    return [NewEvent(run_id, seq, 1.0, TextDelta(f"{seq} ")) for seq in range(first, last + 1)]


def append(store: RunStore, *events: NewEvent) -> None:
    done(store.append(events))


def done(answer: Future[None]) -> None:
    answer.result(PATIENCE)


def ended(run_id: str, seq: int, result: TurnResult | None = None) -> NewEvent:
    return NewEvent(run_id, seq, 1.0, TurnEnded(result or TurnResult(text="done"), "completed"))


def finish(store: RunStore, run_id: str, seq: int) -> None:
    done(store.finish(RunStatus.COMPLETED, ended(run_id, seq)))


def request(approval_id: str, **more: Any) -> ApprovalRequest:
    values = {
        "id": approval_id,
        "code": "ABCDE",
        "call_id": f"call_{approval_id}",
        "tool": "terminal",
        "arguments": {"command": "rm -r build"},
        "shown": "rm -r build",
        "reason": "It deletes files.",
        "expires_at": 2_000_000.0,
    }
    return ApprovalRequest(**{**values, **more})


def paused(run_id: str, seq: int, *requests: ApprovalRequest) -> NewEvent:
    result = TurnResult(text="May I?", outcome=Outcome.ASKING, approvals=requests)
    return NewEvent(run_id, seq, 1.0, TurnPaused(result))


def numbers(store: RunStore, run_id: str, after: int = 0) -> list[int]:
    return [logged.seq for logged in store.read(run_id, after=after)]


def events(store: RunStore, run_id: str) -> list[Event]:
    return [logged.event for logged in store.read(run_id)]


def ids(runs: list[Run]) -> list[str]:
    return [run.id for run in runs]


def status(store: RunStore, run_id: str) -> RunStatus:
    run = store.get(run_id)
    assert run is not None
    return run.status
