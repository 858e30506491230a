"""Requests that must not be carried out twice, by the key their client gave them.

A key stands for a run, or for the answer of a request that made no run.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from hermes.core.errors import IdempotencyConflict
from hermes.core.run_ports import KeptAnswer
from hermes.store.encoding import bind, from_json, to_json

_FIND = "SELECT * FROM idempotency WHERE owner = :owner AND scope = :scope AND key = :key"
_FORGET_OLD = """
    DELETE FROM idempotency
    WHERE owner = :owner AND scope = :scope AND key = :key AND created_at <= :cutoff
"""
_KEEP = """
    INSERT INTO idempotency
        (owner, scope, key, fingerprint, created_at, run, status, headers, body)
    VALUES (:owner, :scope, :key, :fingerprint, :created_at, :run, :status, :headers, :body)
"""
_FORGET = "DELETE FROM idempotency WHERE run = (SELECT number FROM runs WHERE id = :id)"
_EXPIRE = """
    DELETE FROM idempotency WHERE (owner, scope, key) IN (
        SELECT owner, scope, key FROM idempotency WHERE created_at <= :cutoff LIMIT :limit
    )
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """A key where it was used, what for, and since when it may have been kept."""

    owner: str
    scope: str
    key: str
    fingerprint: str
    now: float
    cutoff: float
    """What is not newer than this counts no more."""


def run_of_key(connection: sqlite3.Connection, key: RequestKey) -> int | None:
    """The number of the run that this request made before."""
    row = _find(connection, key)
    if row is None:
        return None
    if row["run"] is None:
        raise IdempotencyConflict
    return int(row["run"])


def keep_run(connection: sqlite3.Connection, key: RequestKey, number: int) -> None:
    connection.execute(_KEEP, _row(key) | {"run": number})


def find_answer(connection: sqlite3.Connection, key: RequestKey) -> KeptAnswer | None:
    row = _find(connection, key)
    if row is None or row["run"] is not None:
        return None
    return KeptAnswer(
        status=row["status"], headers=from_json(row["headers"]), body=bytes(row["body"])
    )


def keep_answer(connection: sqlite3.Connection, key: RequestKey, answer: KeptAnswer) -> None:
    """The first answer stays."""
    connection.execute(_FORGET_OLD, _row(key))
    if _find(connection, key) is not None:
        return
    kept = bind(status=answer.status, headers=to_json(dict(answer.headers)))
    connection.execute(_KEEP, _row(key) | kept | {"body": answer.body})


def forget_key(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute(_FORGET, bind(id=run_id))


def expire_keys(connection: sqlite3.Connection, cutoff: float, limit: int) -> int:
    return connection.execute(_EXPIRE, {"cutoff": cutoff, "limit": limit}).rowcount


def forget_old_key(connection: sqlite3.Connection, key: RequestKey) -> None:
    connection.execute(_FORGET_OLD, _row(key))


def _find(connection: sqlite3.Connection, key: RequestKey) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(_FIND, _row(key)).fetchone()
    if row is None or row["created_at"] <= key.cutoff:
        return None
    if row["fingerprint"] != key.fingerprint:
        raise IdempotencyConflict
    return row


def _row(key: RequestKey) -> dict[str, str | bytes | float | None]:
    nothing = dict.fromkeys(("run", "status", "headers", "body"))
    return nothing | bind(
        owner=key.owner,
        scope=key.scope,
        key=key.key,
        fingerprint=key.fingerprint,
        created_at=key.now,
        cutoff=key.cutoff,
    )
