"""Keeping a new run: its idempotency key, its place in its session, its row. One transaction."""

from __future__ import annotations

import sqlite3

from hermes.core.errors import SessionBusy
from hermes.core.runs import NewRun, Submitted, WhenBusy
from hermes.store.encoding import bind, from_stored, to_json
from hermes.store.errors import RunExists
from hermes.store.idempotency import RequestKey, forget_old_key, keep_run, run_of_key
from hermes.store.run_rows import number_of, place_of, run_by_number

_INSERT = """
    INSERT INTO runs (id, owner, kind, session_id, resource_id, status, rank, disconnect, timeout,
        metadata, created_at)
    VALUES (:id, :owner, :kind, :session_id, :resource_id, 'queued', 0, :disconnect, :timeout,
        :metadata, :created_at)
"""
_INPUT = "INSERT INTO run_inputs (run, input) VALUES (:run, :input)"
_LAST = "UPDATE runs SET rank = number WHERE number = :number"
_FIRST = """
    UPDATE runs SET rank = (
        SELECT min(rank) - 1 FROM runs WHERE session_id = :session_id AND finished_at IS NULL
        AND number <> :number
    ) WHERE number = :number
"""
_OPEN = """
    SELECT id, status FROM runs WHERE session_id = :session_id AND finished_at IS NULL
    ORDER BY status = 'queued', rank, number LIMIT 1
"""


def submit_run(
    connection: sqlite3.Connection, new: NewRun, stored: str, key: RequestKey | None, now: float
) -> Submitted:
    """`stored`: the input as JSON, which may be large and need not be made in here."""
    before = None if key is None else run_of_key(connection, key)
    if before is not None:
        run = run_by_number(connection, before)
        return Submitted(run=run, replayed=True, place=place_of(connection, run.id))
    if number_of(connection, new.id) is not None:
        raise RunExists(new.id)
    ahead = _ahead(connection, new)
    number = _insert(connection, new, now, is_first=ahead is not None and _interrupts(new))
    connection.execute(_INPUT, bind(run=number, input=stored))
    if key is not None:
        forget_old_key(connection, key)
        keep_run(connection, key, number)
    is_active = ahead is not None and ahead["status"] != "queued"
    return Submitted(
        run=run_by_number(connection, number),
        place=0 if ahead is None else place_of(connection, new.id),
        interrupts=from_stored(ahead["id"]) if ahead and is_active and _interrupts(new) else None,
    )


def _ahead(connection: sqlite3.Connection, new: NewRun) -> sqlite3.Row | None:
    """The run that the session is at work on, or else the one that is next."""
    if new.session_id is None:
        return None
    row: sqlite3.Row | None = connection.execute(_OPEN, bind(session_id=new.session_id)).fetchone()
    if row is not None and new.when_busy is WhenBusy.REJECT:
        raise SessionBusy(new.session_id, from_stored(row["id"]))
    return row


def _interrupts(new: NewRun) -> bool:
    return new.when_busy is WhenBusy.INTERRUPT


def _insert(connection: sqlite3.Connection, new: NewRun, now: float, *, is_first: bool) -> int:
    values = bind(
        id=new.id,
        owner=new.owner,
        kind=new.kind,
        session_id=new.session_id,
        resource_id=new.resource_id,
        disconnect=new.disconnect.grace,
        timeout=new.timeout,
        metadata=to_json(dict(new.metadata)),
        created_at=now,
    )
    number = connection.execute(_INSERT, values).lastrowid
    assert number is not None
    statement = _FIRST if is_first else _LAST
    connection.execute(statement, bind(number=number, session_id=new.session_id))
    return number
