"""Deleting what is too old or too much, a little at a time: the writer serves others in between."""

from __future__ import annotations

import logging
import sqlite3

from hermes.core.event_json import PASSING
from hermes.core.runs import RunRetention
from hermes.store import leftovers
from hermes.store.database import Database
from hermes.store.encoding import bind, to_json
from hermes.store.errors import StoreUnusable
from hermes.store.idempotency import expire_keys
from hermes.store.run_workers import forget_dead_workers
from hermes.store.writer import Work

_ROWS = 2000
_RUNS = 50
_PAGES = 1000
"""At a time."""

log = logging.getLogger(__name__)

Values = dict[str, str | bytes | float | None]

_EVENTS = """
    DELETE FROM run_events WHERE run = :run AND seq IN (
        SELECT seq FROM run_events WHERE run = :run
        AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types))) LIMIT :most
    )
"""
_TO_THIN = """
    SELECT number FROM runs WHERE finished_at IS NOT NULL AND is_thinned = 0
    AND finished_at <= :cutoff ORDER BY finished_at LIMIT :most
"""
_OLDEST = """
    SELECT number FROM runs WHERE finished_at IS NOT NULL AND finished_at <= :cutoff
    ORDER BY finished_at LIMIT :most
"""
_OF_SESSION = """
    SELECT number FROM runs WHERE session_id = :session_id AND finished_at IS NOT NULL
    ORDER BY number LIMIT 50
"""
_FORGET_GRANTS = "DELETE FROM grants WHERE session_id = :session_id"
_COUNT = "SELECT count(*) FROM runs WHERE session_id = :session_id AND finished_at IS NOT NULL"
_USED = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_FOREVER = 1e18


def sweep(database: Database, retention: RunRetention, now: float) -> None:
    """May take long, but never holds the writer for long."""
    _repeat(database, lambda each: expire_keys(each, now - retention.keep_keys_seconds, _ROWS))
    _repeat(database, lambda each: _thin(each, now - retention.keep_deltas_seconds, _RUNS) > 0)
    _repeat(database, lambda each: _remove(each, now - retention.keep_runs_seconds, _RUNS) > 0)
    _make_room(database, retention.max_bytes)
    database.write(lambda each: forget_dead_workers(each, now - retention.keep_runs_seconds))
    _repeat(database, _give_back_pages)
    _remove_leftovers(database)


def remove_session(database: Database, session_id: str) -> int:
    """Delete the finished runs of a session, and what was approved for it; how many runs.

    Nothing of it stays in the file: that holds the writer for a second per 100 MB.
    """
    session = bind(session_id=session_id)
    count = database.write(lambda each: _begin_removal(each, session))
    _repeat(database, lambda each: _remove_all(each, _numbers(each, _OF_SESSION, session)) > 0)
    _remove_leftovers(database)
    return count


def _repeat(database: Database, job: Work[bool | int]) -> None:
    """Write until there is nothing left to do."""
    while database.write(job):
        pass


def _make_room(database: Database, max_bytes: int) -> None:
    """What the oldest finished runs have least need of goes first."""
    while _used(database) > max_bytes:
        if not database.write(lambda each: _thin(each, _FOREVER, 1) or _remove(each, _FOREVER, 1)):
            return


def _thin(connection: sqlite3.Connection, cutoff: float, most: int) -> int:
    """Delete deltas of the oldest runs that still have them; how many runs it looked at."""
    numbers = _numbers(connection, _TO_THIN, {"cutoff": cutoff, "most": most})
    left = _ROWS
    for number in numbers:
        deleted = _delete_events(connection, number, to_json(PASSING), left)
        left -= deleted
        if deleted:
            connection.execute("UPDATE runs SET has_all_events = 0 WHERE number = ?", (number,))
        if not left:
            break
        connection.execute("UPDATE runs SET is_thinned = 1 WHERE number = ?", (number,))
    return len(numbers)


def _remove(connection: sqlite3.Connection, cutoff: float, most: int) -> int:
    """Delete the oldest finished runs; how many it looked at."""
    return _remove_all(connection, _numbers(connection, _OLDEST, {"cutoff": cutoff, "most": most}))


def _remove_all(connection: sqlite3.Connection, numbers: list[int]) -> int:
    left = _ROWS
    for number in numbers:
        left -= _delete_events(connection, number, None, left)
        if not left:  # this one was long: what is left of it goes next time
            connection.execute("UPDATE runs SET has_all_events = 0 WHERE number = ?", (number,))
            break
        connection.execute("DELETE FROM runs WHERE number = ?", (number,))
    return len(numbers)


def _delete_events(
    connection: sqlite3.Connection, number: int, types: str | None, most: int
) -> int:
    return connection.execute(_EVENTS, bind(run=number, types=types, most=most)).rowcount


def _begin_removal(connection: sqlite3.Connection, session: Values) -> int:
    """How many runs will go."""
    [(count,)] = connection.execute(_COUNT, session).fetchall()
    if connection.execute(_FORGET_GRANTS, session).rowcount or count:
        leftovers.mark(connection)
    return int(count)


def _remove_leftovers(database: Database) -> None:
    """The rows are gone already, so a failure is no error; the next sweep mends it."""
    if not database.read(leftovers.are_marked):
        return
    try:
        is_done = database.write_alone(leftovers.remove)
    except (StoreUnusable, sqlite3.Error):
        log.exception("deleted text is still in the file")
    else:
        if not is_done:
            log.warning("deleted text is still in the file: another process is reading it")


def _give_back_pages(connection: sqlite3.Connection) -> bool:
    """Make the file smaller; True while there is more to give back."""
    before = _free(connection)
    connection.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
    return 0 < _free(connection) < before


def _free(connection: sqlite3.Connection) -> int:
    [(free,)] = connection.execute("PRAGMA freelist_count").fetchall()
    return int(free)


def _used(database: Database) -> int:
    [(used,)] = database.read(lambda connection: connection.execute(_USED).fetchall())
    return int(used)


def _numbers(connection: sqlite3.Connection, statement: str, values: Values) -> list[int]:
    return [row["number"] for row in connection.execute(statement, values)]
