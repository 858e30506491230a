"""Deleting what files were when nobody can want it any more, or there is too much of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from hermes.store.database import Database
from hermes.store.encoding import bind, to_json
from hermes.store.writer import Work

_ROWS = 500
_PAGES = 1000
"""At a time: the writer serves others in between."""
_UNSIGNED_SECONDS = 86_400.0
"""After which a deed belongs to no run that will ever be kept."""

_USED = "SELECT coalesce(sum(stored_bytes), 0) FROM contents"
_OLD_DEEDS = """
    DELETE FROM deeds WHERE number IN (
        SELECT number FROM deeds
        WHERE at <= :cutoff OR (run_id IS NULL AND at <= :unsigned) LIMIT :most
    )
"""
_OLDEST_DEEDS = """
    DELETE FROM deeds WHERE number IN (SELECT number FROM deeds ORDER BY at, number LIMIT :most)
"""
_OLD_WORKSPACES = "DELETE FROM workspaces WHERE seen_at <= :cutoff"
_OLD_UNDONE = "DELETE FROM undone WHERE at <= :cutoff"
_OLDEST_WORKSPACES = """
    DELETE FROM workspaces WHERE number IN (
        SELECT number FROM workspaces ORDER BY seen_at LIMIT :most
    )
"""
# What a deed under way is about is in its workspace's files, or was kept a moment ago: contents
# are never deleted while one is open.
_UNWANTED = """
    DELETE FROM contents WHERE number IN (
        SELECT number FROM contents
        WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.digest = contents.digest)
        AND NOT EXISTS (SELECT 1 FROM deeds WHERE before_digest = contents.digest)
        AND NOT EXISTS (SELECT 1 FROM deeds WHERE after_digest = contents.digest)
        LIMIT :most
    ) AND NOT EXISTS (SELECT 1 FROM openings)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowRetention:
    """How long contents are kept, and how much of them."""

    keep_seconds: float = 30 * 86_400.0
    max_bytes: int = 1 << 30


def forget(database: Database, run_ids: Collection[str]) -> None:
    """Delete what is known of these runs, and overwrite it."""
    if not run_ids:
        return
    wanted = bind(runs=to_json(list(run_ids)))

    def delete(connection: sqlite3.Connection) -> None:
        for table in ("deeds", "undone"):
            connection.execute(
                f"DELETE FROM {table} WHERE run_id IN (SELECT value FROM json_each(:runs))",  # noqa: S608  (two constants)
                wanted,
            )

    database.write(delete)
    _delete_unwanted(database)


def sweep(database: Database, retention: ShadowRetention, now: float) -> None:
    """May take long, but never holds the writer for long."""
    cutoff = now - retention.keep_seconds
    old = {"cutoff": cutoff, "unsigned": now - _UNSIGNED_SECONDS, "most": _ROWS}
    _repeat(database, lambda each: each.execute(_OLD_DEEDS, old).rowcount)
    database.write(lambda each: each.execute(_OLD_WORKSPACES, {"cutoff": cutoff}).rowcount)
    _delete_unwanted(database)
    _make_room(database, retention.max_bytes)
    database.write(lambda each: each.execute(_OLD_UNDONE, {"cutoff": cutoff}).rowcount)
    _repeat(database, _give_back_pages)


def _make_room(database: Database, max_bytes: int) -> None:
    """What was changed longest ago goes first; then workspaces that were not used for long."""
    for statement in (_OLDEST_DEEDS, _OLDEST_WORKSPACES):
        most = 1  # then ever more: looking for what nobody refers to takes its time
        while _used(database) > max_bytes and database.write(partial(_deleted, statement, most)):
            _delete_unwanted(database)
            most *= 2


def _deleted(statement: str, most: int, connection: sqlite3.Connection) -> int:
    return connection.execute(statement, {"most": most}).rowcount


def _delete_unwanted(database: Database) -> None:
    _repeat(database, lambda each: _overwrite(each).execute(_UNWANTED, {"most": _ROWS}).rowcount)


def _overwrite(connection: sqlite3.Connection) -> sqlite3.Connection:
    """What files held is nobody's business once it is deleted."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    return connection


def _used(database: Database) -> int:
    [(used,)] = database.read(lambda connection: connection.execute(_USED).fetchall())
    return int(used)


def _repeat(database: Database, job: Work[int]) -> None:
    while database.write(job):
        pass


def _give_back_pages(connection: sqlite3.Connection) -> int:
    before = _free(connection)
    connection.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
    return int(0 < _free(connection) < before)


def _free(connection: sqlite3.Connection) -> int:
    [(free,)] = connection.execute("PRAGMA freelist_count").fetchall()
    return int(free)
