"""What runs wait for, what was decided about it, once, and what was approved for longer."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.events import ApprovalDecided
from hermes.core.run_ports import Waiting
from hermes.core.turn_json import read_request
from hermes.core.value_json import to_plain
from hermes.store.encoding import bind, from_json, plain, to_json
from hermes.store.run_rows import run_by_number

_ADD = """
    INSERT INTO approvals (id, run, code, call_id, expires_at, request)
    VALUES (:id, :run, :code, :call_id, :expires_at, :request)
"""
_DENY_OPEN = """
    UPDATE approvals SET decision = 'deny', decided_by = :by, decided_at = :now
    WHERE run = :run AND decision IS NULL
"""
_WAITING_RUN = "SELECT number FROM runs WHERE id = :id AND status = 'waiting_for_approval'"
_OPEN = "SELECT request FROM approvals WHERE run = :run AND decision IS NULL ORDER BY number"
_BY_CODE = """
    SELECT run, request FROM approvals JOIN runs ON runs.number = approvals.run
    WHERE code = :code AND owner = :owner ORDER BY run DESC, approvals.number
"""
_STUCK = """
    SELECT runs.number FROM runs
    WHERE status = 'waiting_for_approval' AND finished_at IS NULL AND (
        EXISTS (SELECT 1 FROM approvals WHERE run = runs.number AND decision IS NULL
            AND expires_at <= :now)
        OR NOT EXISTS (SELECT 1 FROM approvals WHERE run = runs.number AND decision IS NULL)
    ) ORDER BY runs.number
"""
_OVERDUE = """
    SELECT request FROM approvals WHERE run = :run AND decision IS NULL AND expires_at <= :now
    ORDER BY number
"""
_DECIDE = """
    UPDATE approvals SET decision = :decision, decided_by = :by, decided_at = :now
    WHERE id = :id AND decision IS NULL
    AND run IN (SELECT number FROM runs WHERE status = 'waiting_for_approval')
"""
_ASKED = """
    SELECT owner, session_id, request FROM approvals JOIN runs ON runs.number = approvals.run
    WHERE approvals.id = :id
"""
_GRANT = """
    INSERT INTO grants (owner, session_id, tool, shown, created_at)
    VALUES (:owner, :session_id, :tool, :shown, :now)
"""
_DECISIONS = """
    SELECT call_id, decision FROM approvals JOIN runs ON runs.number = approvals.run
    WHERE runs.id = :id AND decision IS NOT NULL ORDER BY approvals.number
"""
_DECIDED_LAST = """
    SELECT id, call_id, decision, decided_by FROM approvals
    WHERE run = :run AND decision IS NOT NULL AND code = (
        SELECT code FROM approvals WHERE run = :run ORDER BY number DESC LIMIT 1
    ) ORDER BY number
"""
_GRANTS = """
    SELECT DISTINCT tool, shown, session_id FROM grants
    WHERE owner = :owner AND (session_id IS NULL OR session_id = :session_id)
"""


def add_approvals(
    connection: sqlite3.Connection, number: int, requests: Sequence[ApprovalRequest]
) -> None:
    for request in requests:
        row = bind(
            id=request.id,
            run=number,
            code=request.code,
            call_id=request.call_id,
            expires_at=request.expires_at,
            request=to_json(to_plain(request)),
        )
        connection.execute(_ADD, row)


def deny_open(connection: sqlite3.Connection, number: int, now: float, *, by: str) -> None:
    connection.execute(_DENY_OPEN, bind(run=number, now=now, by=by))


def waiting_run(connection: sqlite3.Connection, run_id: str) -> Waiting | None:
    row = connection.execute(_WAITING_RUN, bind(id=run_id)).fetchone()
    if row is None:
        return None
    number = row["number"]
    return Waiting(
        run=run_by_number(connection, number),
        requests=_requests(connection.execute(_OPEN, {"run": number})),
    )


def find_by_code(connection: sqlite3.Connection, code: str, owner: str) -> Waiting | None:
    """The newest run that showed this code, with all that it asked under it."""
    rows = connection.execute(_BY_CODE, bind(code=code, owner=owner)).fetchall()
    if not rows:
        return None
    number = rows[0]["run"]
    return Waiting(
        run=run_by_number(connection, number),
        requests=tuple(_request(row) for row in rows if row["run"] == number),
    )


def stuck_runs(connection: sqlite3.Connection, now: float) -> list[Waiting]:
    """Waiting runs that nobody will answer: in time, or any more."""
    numbers = [row["number"] for row in connection.execute(_STUCK, {"now": now}).fetchall()]
    return [
        Waiting(
            run=run_by_number(connection, number),
            requests=_requests(connection.execute(_OVERDUE, {"run": number, "now": now})),
        )
        for number in numbers
    ]


def decide(
    connection: sqlite3.Connection, approval_id: str, decision: Decision, by: str, now: float
) -> bool:
    said = bind(id=approval_id, decision=decision.value, by=by, now=now)
    if not connection.execute(_DECIDE, said).rowcount:
        return False
    if decision in (Decision.SESSION, Decision.ALWAYS):
        _grant(connection, approval_id, decision, now)
    return True


def decisions_of(connection: sqlite3.Connection, run_id: str) -> dict[str, Decision]:
    rows = [plain(row) for row in connection.execute(_DECISIONS, bind(id=run_id))]
    return {row["call_id"]: Decision(row["decision"]) for row in rows}


def decided_last(connection: sqlite3.Connection, number: int) -> list[ApprovalDecided]:
    """What was decided about the questions that a run asked last, for its log."""
    rows = [plain(row) for row in connection.execute(_DECIDED_LAST, {"run": number})]
    return [
        ApprovalDecided(row["id"], row["call_id"], Decision(row["decision"]), row["decided_by"])
        for row in rows
    ]


def grants_of(
    connection: sqlite3.Connection, owner: str, session_id: str | None
) -> tuple[Grant, ...]:
    rows = connection.execute(_GRANTS, bind(owner=owner, session_id=session_id))
    return tuple(Grant(**plain(row)) for row in rows)


def _grant(
    connection: sqlite3.Connection, approval_id: str, decision: Decision, now: float
) -> None:
    asked = plain(connection.execute(_ASKED, bind(id=approval_id)).fetchone())
    request = read_request(from_json(asked["request"]))
    in_session = decision is Decision.SESSION
    if in_session and asked["session_id"] is None:
        return  # without a session there is no later turn that it could be for
    row = bind(
        owner=asked["owner"],
        session_id=asked["session_id"] if in_session else None,
        tool=request.tool,
        shown=request.shown,
        now=now,
    )
    connection.execute(_GRANT, row)


def _requests(rows: sqlite3.Cursor) -> tuple[ApprovalRequest, ...]:
    return tuple(_request(row) for row in rows)


def _request(row: sqlite3.Row) -> ApprovalRequest:
    return read_request(from_json(row["request"]))
