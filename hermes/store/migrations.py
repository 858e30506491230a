"""Numbered schema changes, each applied once, in order, and noted in the table `schema_version`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence

from hermes.store.errors import StoreUnusable

Step = str | Callable[[sqlite3.Connection], None]
"""A statement, or what statements alone cannot do."""

Migration = tuple[Step, ...]
"""The steps that lead from one version of a schema to the next. Never edit a released one."""


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], place: str) -> None:
    """Bring the schema to the version `len(migrations)`, all or nothing."""
    if _version(connection) == len(migrations):
        return
    connection.execute("BEGIN EXCLUSIVE")
    try:
        # Read again: another process may have been here before the lock was ours.
        version = _version(connection)
        _refuse_what_is_not_ours(connection, version, len(migrations), place)
        _apply(connection, migrations, version)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    if "schema_version" not in _tables(connection):
        return 0
    [(version,)] = connection.execute("SELECT max(version) FROM schema_version").fetchall()
    return int(version)


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {str(name) for (name,) in rows}


def _refuse_what_is_not_ours(
    connection: sqlite3.Connection, version: int, known: int, place: str
) -> None:
    if version > known:
        problem = f"was written by a newer Hermes (schema {version}, this one knows {known})"
        advice = "Upgrade Hermes, or move the file away to begin with an empty one"
        raise StoreUnusable(place, problem, advice)
    if version == 0 and _tables(connection):
        raise StoreUnusable(place, "belongs to another program", "Choose another file")


def _apply(connection: sqlite3.Connection, migrations: Sequence[Migration], version: int) -> None:
    if version == 0:
        connection.execute(
            "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at REAL NOT NULL)"
        )
    for number, steps in enumerate(migrations[version:], start=version + 1):
        for step in steps:
            _take(connection, step)
        connection.execute("INSERT INTO schema_version VALUES (?, ?)", (number, time.time()))


def _take(connection: sqlite3.Connection, step: Step) -> None:
    if isinstance(step, str):
        connection.execute(step)
    else:
        step(connection)
