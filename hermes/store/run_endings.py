"""How a run comes to its end, to a pause, or is stopped before it could."""

from __future__ import annotations

import sqlite3

from hermes.core.events import Event, TurnEnded
from hermes.core.run_ports import NewEvent
from hermes.core.runs import Run, RunStatus, error_of
from hermes.core.turn import Outcome, TurnResult
from hermes.core.turn_json import read_usage
from hermes.store.encoding import bind, from_json, to_json
from hermes.store.run_approvals import add_approvals, decided_last, deny_open
from hermes.store.run_events import add_last_event, fenced, owned_log
from hermes.store.run_rows import get_run, number_of
from hermes.store.run_workers import require_alive

_END = """
    UPDATE runs SET status = :status, output = :output, error = :error, usage = :usage,
        finished_at = :now
    WHERE number = :number
"""
_PAUSE = """
    UPDATE runs SET status = 'waiting_for_approval', output = :output, usage = :usage
    WHERE number = :number
"""
_STOP = "UPDATE runs SET status = 'stopping' WHERE number = :number AND status = 'running'"
_REQUEST_STOP = "UPDATE runs SET is_stop_requested = 1 WHERE number = :number"
_HAD = """
    SELECT 1 FROM runs WHERE id = :id AND worker_id = :worker AND status = :status
    AND EXISTS (SELECT 1 FROM run_events WHERE run = number AND seq = :seq)
"""
_IS_QUEUED = "SELECT 1 FROM runs WHERE number = :number AND status = 'queued'"
_INPUT = "SELECT input FROM run_inputs WHERE run = :number"
_SET_INPUT = "UPDATE run_inputs SET input = :input WHERE run = :number"

_STOPPED = {
    RunStatus.QUEUED: "Stopped before it began.",
    RunStatus.WAITING_FOR_APPROVAL: "Stopped while it waited for approval.",
}


def finish_run(
    connection: sqlite3.Connection, status: RunStatus, last: NewEvent, worker: str, now: float
) -> None:
    assert isinstance(last.event, TurnEnded)
    if _was_done(connection, status, last, worker):
        return
    number, last_seq = _log_at_work(connection, last.run_id, worker)
    add_last_event(connection, number, last_seq, last)
    _end(connection, number, status, last.event.result, now)


def pause_run(
    connection: sqlite3.Connection, last: NewEvent, result: TurnResult, worker: str
) -> None:
    status = RunStatus.WAITING_FOR_APPROVAL
    if _was_done(connection, status, last, worker):
        return
    number, last_seq = _log_at_work(connection, last.run_id, worker)
    add_last_event(connection, number, last_seq, last)
    add_approvals(connection, number, result.approvals)
    usage = to_json(result.usage.as_dict())
    connection.execute(_PAUSE, bind(number=number, output=result.text, usage=usage))


def stop_run(connection: sqlite3.Connection, run_id: str, now: float) -> Run | None:
    run = get_run(connection, run_id, None)
    number = number_of(connection, run_id)
    if run is None or number is None or run.status.is_final:
        return run
    connection.execute(_REQUEST_STOP, {"number": number})
    connection.execute(_STOP, {"number": number})
    if run.status in _STOPPED:
        _cancel(connection, run, number, now)
    return get_run(connection, run_id, None)


def set_input(connection: sqlite3.Connection, run_id: str, value: str, worker: str) -> None:
    number, _ = owned_log(connection, run_id, worker)
    connection.execute(_SET_INPUT, bind(number=number, input=value))


def _cancel(connection: sqlite3.Connection, run: Run, number: int, now: float) -> None:
    """End a run that nobody is at work on."""
    status = RunStatus.CANCELLED
    result = TurnResult(
        text=run.output,
        outcome=Outcome.INTERRUPTED,
        error=_STOPPED[run.status],
        usage=read_usage(run.usage),
        session_id=run.session_id,
    )
    deny_open(connection, number, now, by="stopped")
    said: list[Event] = [*decided_last(connection, number), TurnEnded(result, status.value)]
    for seq, event in enumerate(said, run.last_seq + 1):
        add_last_event(connection, number, seq - 1, NewEvent(run.id, seq, now, event))
    _end(connection, number, status, result, now)


def _log_at_work(connection: sqlite3.Connection, run_id: str, worker: str) -> tuple[int, int]:
    """Like `owned_log`, but a run that nobody has taken up can neither end nor pause."""
    number, last_seq = owned_log(connection, run_id, worker)
    if connection.execute(_IS_QUEUED, {"number": number}).fetchone() is not None:
        raise fenced(run_id)
    return number, last_seq


def _was_done(
    connection: sqlite3.Connection, status: RunStatus, last: NewEvent, worker: str
) -> bool:
    """Whether this worker said exactly this before."""
    require_alive(connection, worker)
    said = bind(id=last.run_id, worker=worker, status=status.value, seq=last.seq)
    return connection.execute(_HAD, said).fetchone() is not None


def _end(
    connection: sqlite3.Connection, number: int, status: RunStatus, result: TurnResult, now: float
) -> None:
    error = error_of(status, result)
    values = bind(
        number=number,
        status=status.value,
        output=result.text,
        error=None if error is None else to_json(error),
        usage=to_json(result.usage.as_dict()),
        now=now,
    )
    connection.execute(_END, values)
    _drop_request(connection, number)


def _drop_request(connection: sqlite3.Connection, number: int) -> None:
    """May be large, and is only needed to run it again."""
    [(stored,)] = connection.execute(_INPUT, {"number": number}).fetchall()
    value = from_json(stored)
    parts = [part for part in (value, value.get("later")) if isinstance(part, dict)]
    if [part.pop("request") for part in parts if "request" in part]:
        connection.execute(_SET_INPUT, bind(number=number, input=to_json(value)))
