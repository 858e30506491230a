"""Kept runs as rows: finding them, and making values of them."""

from __future__ import annotations

import sqlite3
from typing import Any

from hermes.core.runs import Disconnect, Run, RunPage, RunQuery, RunStatus
from hermes.store.encoding import bind, from_json, plain, to_json

_RUN = """
    SELECT runs.*, run_inputs.input,
        (SELECT coalesce(max(seq), 0) FROM run_events WHERE run = runs.number) AS last_seq
    FROM runs JOIN run_inputs ON run_inputs.run = runs.number
"""
_BY_NUMBER = _RUN + " WHERE runs.number = :number"
_BY_ID = _RUN + " WHERE runs.id = :id AND (:owner IS NULL OR owner = :owner)"
_BY_RESOURCE = f"""
    {_RUN}
    WHERE runs.number IN (
        SELECT number FROM runs WHERE resource_id = :resource_id
        UNION SELECT run FROM run_resources WHERE resource_id = :resource_id
    ) AND (:owner IS NULL OR owner = :owner)
    ORDER BY runs.number DESC LIMIT 1
"""  # noqa: S608 - the fragment is a constant
_ADD_RESOURCE = """
    INSERT OR IGNORE INTO run_resources (resource_id, run)
    SELECT :resource_id, number FROM runs WHERE id = :id
"""
# Each in words that fit its index.
_UNFINISHED = {
    RunStatus.QUEUED: _RUN + " WHERE status = 'queued' ORDER BY runs.number",
    RunStatus.WAITING_FOR_APPROVAL: _RUN
    + " WHERE status = 'waiting_for_approval' ORDER BY runs.number",
}
_ACTIVE = f"""
    {_RUN}
    WHERE session_id = :session_id AND finished_at IS NULL AND status <> 'queued' LIMIT 1
"""
_PAGE = f"""
    {_RUN}
    WHERE owner = :owner AND runs.number < :below
    AND (:session_id IS NULL OR session_id = :session_id)
    AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
    ORDER BY runs.number DESC LIMIT :limit
"""  # noqa: S608 - the fragment is a constant
_AFTER = "SELECT number FROM runs WHERE id = :id AND owner = :owner"
_ABOVE_ALL = 2**62

_BEFORE = """
    SELECT count(*) FROM runs AS me
    JOIN runs AS other ON other.session_id = me.session_id AND other.finished_at IS NULL
    WHERE me.id = :id AND me.status = 'queued' AND other.number <> me.number
    AND (other.status <> 'queued' OR (other.rank, other.number) < (me.rank, me.number))
"""


def number_of(connection: sqlite3.Connection, run_id: str) -> int | None:
    row = connection.execute("SELECT number FROM runs WHERE id = :id", bind(id=run_id)).fetchone()
    return None if row is None else int(row["number"])


def run_by_number(connection: sqlite3.Connection, number: int) -> Run:
    return _run(connection.execute(_BY_NUMBER, {"number": number}).fetchone())


def get_run(connection: sqlite3.Connection, run_id: str, owner: str | None) -> Run | None:
    return _first(connection.execute(_BY_ID, bind(id=run_id, owner=owner)))


def find_run(connection: sqlite3.Connection, resource_id: str, owner: str | None) -> Run | None:
    return _first(connection.execute(_BY_RESOURCE, bind(resource_id=resource_id, owner=owner)))


def add_resource(connection: sqlite3.Connection, run_id: str, resource_id: str) -> None:
    connection.execute(_ADD_RESOURCE, bind(id=run_id, resource_id=resource_id))


def unfinished_runs(connection: sqlite3.Connection, status: RunStatus) -> list[Run]:
    return [_run(row) for row in connection.execute(_UNFINISHED[status])]


def active_run(connection: sqlite3.Connection, session_id: str) -> Run | None:
    return _first(connection.execute(_ACTIVE, bind(session_id=session_id)))


def place_of(connection: sqlite3.Connection, run_id: str) -> int:
    """How many of its session come before a queued run; 0 for every other."""
    [(count,)] = connection.execute(_BEFORE, bind(id=run_id)).fetchall()
    return int(count)


def run_page(connection: sqlite3.Connection, query: RunQuery) -> RunPage | None:
    below = _ABOVE_ALL
    if query.after is not None:
        found = connection.execute(_AFTER, bind(id=query.after, owner=query.owner)).fetchone()
        if found is None:
            return None
        below = found["number"]
    wanted = bind(
        owner=query.owner,
        below=below,
        session_id=query.session_id,
        statuses=to_json(sorted(status.value for status in query.statuses)),
        limit=query.limit + 1,
    )
    runs = [_run(row) for row in connection.execute(_PAGE, wanted)]
    return RunPage(runs=runs[: query.limit], has_more=len(runs) > query.limit)


def _first(rows: sqlite3.Cursor) -> Run | None:
    row = rows.fetchone()
    return None if row is None else _run(row)


def _run(row: sqlite3.Row) -> Run:
    values: dict[str, Any] = plain(row)
    error = values["error"]
    return Run(
        id=values["id"],
        kind=values["kind"],
        owner=values["owner"],
        status=RunStatus(values["status"]),
        session_id=values["session_id"],
        resource_id=values["resource_id"],
        input=from_json(values["input"]),
        metadata=from_json(values["metadata"]),
        disconnect=Disconnect(values["disconnect"]),
        timeout=values["timeout"],
        attempt=values["attempt"],
        last_seq=values["last_seq"],
        is_stop_requested=bool(values["is_stop_requested"]),
        created_at=values["created_at"],
        started_at=values["started_at"],
        finished_at=values["finished_at"],
        output=values["output"],
        error=None if error is None else from_json(error),
        usage=from_json(values["usage"]),
        has_all_events=bool(values["has_all_events"]),
    )
