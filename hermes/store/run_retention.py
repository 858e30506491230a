"""Deleting what is too old or too much, a little at a time: the writer serves others in between."""

from __future__ import annotations

import sqlite3

from hermes.core.event_json import PASSING
from hermes.core.runs import RunRetention
from hermes.store.database import Database
from hermes.store.encoding import bind, to_json
from hermes.store.idempotency import expire_keys
from hermes.store.run_workers import forget_dead_workers

_ROWS_AT_A_TIME = 2000
_PAGES_AT_A_TIME = 1000

_EVENTS = """
    DELETE FROM run_events WHERE run = :run AND seq IN (
        SELECT seq FROM run_events WHERE run = :run
        AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types))) LIMIT :limit
    )
"""
_TO_THIN = """
    SELECT number FROM runs WHERE finished_at IS NOT NULL AND is_thinned = 0
    AND finished_at <= :cutoff ORDER BY finished_at LIMIT 1
"""
_OLDEST = """
    SELECT number FROM runs WHERE finished_at IS NOT NULL AND finished_at <= :cutoff
    ORDER BY finished_at LIMIT 1
"""
_OF_SESSION = """
    SELECT number FROM runs WHERE session_id = :session_id AND finished_at IS NOT NULL
    ORDER BY number LIMIT 1
"""
_USED = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_FOREVER = 1e18


def sweep(database: Database, retention: RunRetention, now: float) -> None:
    """May take long, but never holds the writer for long."""
    _expire(database, now - retention.keep_keys_seconds)
    _thin_all(database, now - retention.keep_deltas_seconds)
    _remove_all(database, now - retention.keep_runs_seconds)
    _make_room(database, retention.max_bytes)
    database.write(
        lambda connection: forget_dead_workers(connection, now - retention.keep_runs_seconds)
    )
    while database.write(_give_back_pages):
        pass


def remove_session(database: Database, session_id: str) -> int:
    """Delete the finished runs of a session, and what was approved for it; how many runs."""
    session = bind(session_id=session_id)
    removed = 0
    while True:
        number = database.read(lambda connection: _one(connection, _OF_SESSION, session))
        if number is None:
            break
        removed += _remove(database, number)
    database.write(
        lambda connection: (
            connection.execute(
                "DELETE FROM grants WHERE session_id = :session_id", session
            ).rowcount
        )
    )
    return removed


def _expire(database: Database, cutoff: float) -> None:
    while database.write(lambda connection: expire_keys(connection, cutoff, _ROWS_AT_A_TIME)):
        pass


def _thin_all(database: Database, cutoff: float) -> None:
    while _thin_oldest(database, cutoff):
        pass


def _remove_all(database: Database, cutoff: float) -> None:
    while _remove_oldest(database, cutoff):
        pass


def _make_room(database: Database, max_bytes: int) -> None:
    """What the oldest finished runs have least need of goes first."""
    while _used(database) > max_bytes:
        if not _thin_oldest(database, _FOREVER) and not _remove_oldest(database, _FOREVER):
            return


def _thin_oldest(database: Database, cutoff: float) -> bool:
    """Delete the deltas of the oldest run that still has them; False when there is none."""
    number = database.read(lambda connection: _one(connection, _TO_THIN, {"cutoff": cutoff}))
    if number is None:
        return False
    while not database.write(lambda connection: _thin(connection, number)):
        pass
    return True


def _remove_oldest(database: Database, cutoff: float) -> bool:
    number = database.read(lambda connection: _one(connection, _OLDEST, {"cutoff": cutoff}))
    return number is not None and _remove(database, number)


def _remove(database: Database, number: int) -> bool:
    while not database.write(lambda connection: _remove_some(connection, number)):
        pass
    return True


def _thin(connection: sqlite3.Connection, number: int) -> bool:
    """True when it is done."""
    deleted = _delete_events(connection, number, to_json(PASSING))
    if deleted:
        connection.execute("UPDATE runs SET has_all_events = 0 WHERE number = ?", (number,))
    if deleted == _ROWS_AT_A_TIME:
        return False
    connection.execute("UPDATE runs SET is_thinned = 1 WHERE number = ?", (number,))
    return True


def _remove_some(connection: sqlite3.Connection, number: int) -> bool:
    """True when the run is gone."""
    if _delete_events(connection, number, None) == _ROWS_AT_A_TIME:
        connection.execute("UPDATE runs SET has_all_events = 0 WHERE number = ?", (number,))
        return False
    connection.execute("DELETE FROM runs WHERE number = ?", (number,))
    return True


def _delete_events(connection: sqlite3.Connection, number: int, types: str | None) -> int:
    values = bind(run=number, types=types, limit=_ROWS_AT_A_TIME)
    return connection.execute(_EVENTS, values).rowcount


def _give_back_pages(connection: sqlite3.Connection) -> bool:
    """Make the file smaller; True while there is more to give back."""
    connection.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_A_TIME})").fetchall()
    [(free,)] = connection.execute("PRAGMA freelist_count").fetchall()
    return int(free) > 0


def _used(database: Database) -> int:
    [(used,)] = database.read(lambda connection: connection.execute(_USED).fetchall())
    return int(used)


def _one(
    connection: sqlite3.Connection, statement: str, values: dict[str, str | bytes | float | None]
) -> int | None:
    row = connection.execute(statement, values).fetchone()
    return None if row is None else int(row["number"])
