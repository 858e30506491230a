"""Who works on which run. A worker has one lease for all its runs, and that is its fence too."""

from __future__ import annotations

import sqlite3

from hermes.core.errors import Fenced
from hermes.core.runs import Run, RunStatus
from hermes.store.encoding import bind, from_stored
from hermes.store.run_approvals import deny_open
from hermes.store.run_events import fenced
from hermes.store.run_rows import run_by_number

_KNOWN = "SELECT 1 FROM workers WHERE id = :worker"
_REGISTER = "INSERT INTO workers VALUES (:worker, 'alive', :now, :expires_at)"
_BURY_OTHERS = "UPDATE workers SET state = 'dead' WHERE id <> :worker"
_EXTEND = "UPDATE workers SET expires_at = :expires_at WHERE id = :worker AND state = 'alive'"
_IS_ALIVE = "SELECT started_at FROM workers WHERE id = :worker AND state = 'alive'"
_BURY_EXPIRED = "UPDATE workers SET state = 'dead' WHERE id <> :worker AND expires_at <= :now"
_TO_STOP = """
    SELECT id FROM runs WHERE status IN ('running', 'stopping') AND worker_id = :worker
    AND is_stop_requested = 1 ORDER BY number
"""
_ORPHANS = """
    SELECT number FROM runs WHERE status IN ('running', 'stopping')
    AND worker_id NOT IN (SELECT id FROM workers WHERE state = 'alive') ORDER BY number
"""
_FORGET_DEAD = """
    DELETE FROM workers WHERE state = 'dead' AND expires_at <= :cutoff
    AND id NOT IN (SELECT worker_id FROM runs WHERE status IN ('running', 'stopping'))
"""
_NOBODY_FIRST = """
    (me.session_id IS NULL OR NOT EXISTS (
        SELECT 1 FROM runs AS other
        WHERE other.session_id = me.session_id AND other.finished_at IS NULL
        AND (other.status <> 'queued' OR (other.rank, other.number) < (me.rank, me.number))
    ))
"""
_NEXT = f"""
    SELECT number FROM runs AS me WHERE status = 'queued' AND {_NOBODY_FIRST}
    ORDER BY number LIMIT :limit
"""  # noqa: S608 - the fragment is a constant
_TAKE = """
    UPDATE runs SET status = 'running', worker_id = :worker, attempt = attempt + 1,
        started_at = coalesce(started_at, :now)
    WHERE number = :number
"""
_CANDIDATES = {
    RunStatus.QUEUED: f"""
        SELECT number FROM runs AS me WHERE id = :id AND status = 'queued' AND {_NOBODY_FIRST}
    """,  # noqa: S608 - the fragment is a constant
    RunStatus.WAITING_FOR_APPROVAL: """
        SELECT number FROM runs WHERE id = :id AND status = 'waiting_for_approval'
    """,
    RunStatus.RUNNING: """
        SELECT number FROM runs WHERE id = :id AND status = 'running' AND worker_id = :worker
    """,
}
_REQUEUE = """
    UPDATE runs SET status = 'queued', worker_id = NULL
    WHERE id = :id AND worker_id = :worker AND status IN ('running', 'stopping')
"""


def register(
    connection: sqlite3.Connection, worker: str, now: float, lease: float, *, is_alone: bool
) -> None:
    values = bind(worker=worker, now=now, expires_at=now + lease)
    if connection.execute(_KNOWN, values).fetchone() is not None:
        raise ValueError(f"There was a worker {worker} before; its name cannot be used again")
    connection.execute(_REGISTER, values)
    if is_alone:
        connection.execute(_BURY_OTHERS, values)


def extend_lease(connection: sqlite3.Connection, worker: str, expires_at: float) -> list[str]:
    values = bind(worker=worker, expires_at=expires_at)
    if not connection.execute(_EXTEND, values).rowcount:
        raise _dead(worker)
    return [from_stored(row["id"]) for row in connection.execute(_TO_STOP, values)]


def take_orphans(
    connection: sqlite3.Connection, worker: str, now: float, lease: float
) -> list[Run]:
    """Runs of the dead. Only who was there for a whole lease may say that others are dead.

    After an outage everybody's lease is over, and the first to come back would bury the others.
    """
    if require_alive(connection, worker) + lease <= now:
        connection.execute(_BURY_EXPIRED, bind(worker=worker, now=now))
    numbers = [row["number"] for row in connection.execute(_ORPHANS)]
    connection.executemany(
        "UPDATE runs SET worker_id = ? WHERE number = ?", [(worker, each) for each in numbers]
    )
    return [run_by_number(connection, number) for number in numbers]


def claim_next(connection: sqlite3.Connection, worker: str, now: float, limit: int) -> list[Run]:
    require_alive(connection, worker)
    numbers = [row["number"] for row in connection.execute(_NEXT, {"limit": limit}).fetchall()]
    return [_take(connection, number, worker, now) for number in numbers]


def take_up(
    connection: sqlite3.Connection, run_id: str, from_status: RunStatus, worker: str, now: float
) -> Run | None:
    require_alive(connection, worker)
    candidate = _CANDIDATES.get(from_status)
    if candidate is None:
        raise ValueError(f"A run that is {from_status.value} cannot be taken up")
    row = connection.execute(candidate, bind(id=run_id, worker=worker)).fetchone()
    if row is None:
        return None
    if from_status is not RunStatus.QUEUED:  # which has not asked anything yet
        # What nobody answered before the run goes on is not asked any more.
        deny_open(connection, row["number"], now, by="superseded")
    return _take(connection, row["number"], worker, now)


def requeue(connection: sqlite3.Connection, run_id: str, worker: str) -> None:
    require_alive(connection, worker)
    if not connection.execute(_REQUEUE, bind(id=run_id, worker=worker)).rowcount:
        raise fenced(run_id)


def require_alive(connection: sqlite3.Connection, worker: str) -> float:
    """Since when this worker is there."""
    row = connection.execute(_IS_ALIVE, bind(worker=worker)).fetchone()
    if row is None:
        raise _dead(worker)
    return float(row["started_at"])


def forget_dead_workers(connection: sqlite3.Connection, cutoff: float) -> None:
    connection.execute(_FORGET_DEAD, {"cutoff": cutoff})


def _take(connection: sqlite3.Connection, number: int, worker: str, now: float) -> Run:
    connection.execute(_TAKE, bind(number=number, worker=worker, now=now))
    return run_by_number(connection, number)


def _dead(worker: str) -> Fenced:
    return Fenced(f"Another process has taken over the runs of {worker}.")
