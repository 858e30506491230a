"""How SQLite connections are opened here, and its errors put into words."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from hermes.store.errors import StoreUnusable

_LOCK_WAIT_SECONDS = 5.0
_LOCK_RETRY_SECONDS = 0.01
_LARGEST_IDLE_WAL = 64 * 1024 * 1024

_MOVE_AWAY = "Restore it from a backup, or move it away to begin with an empty one"
_LOOK_FOR_OTHERS = "Stop the other process that uses it and try again"
CHECK_PERMISSIONS = "Check that its directory exists and that you may write there"

_EXPLANATIONS = {
    sqlite3.SQLITE_CORRUPT: ("is damaged", _MOVE_AWAY),
    sqlite3.SQLITE_NOTADB: ("is not a database", _MOVE_AWAY),
    sqlite3.SQLITE_BUSY: ("is locked", _LOOK_FOR_OTHERS),
    sqlite3.SQLITE_LOCKED: ("is locked", _LOOK_FOR_OTHERS),
    sqlite3.SQLITE_FULL: ("cannot grow", "Free some disk space and try again"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Check the disk it is on"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", CHECK_PERMISSIONS),
    sqlite3.SQLITE_PERM: ("cannot be opened", CHECK_PERMISSIONS),
    sqlite3.SQLITE_READONLY: ("cannot be written", CHECK_PERMISSIONS),
}


Synchronous = Literal["NORMAL", "FULL"]
"""NORMAL: a commit survives the death of this process; only a power cut may undo the last ones.
FULL: it survives that too."""


def open_writer(
    path: Path | None, *, synchronous: Synchronous = "NORMAL", can_shrink: bool = False
) -> sqlite3.Connection:
    """The one connection that changes the database; `None` opens a new one in memory.

    `can_shrink`: a new file can be made smaller with `PRAGMA incremental_vacuum`.
    """
    connection = _connect(path)
    try:
        if can_shrink:  # works only while there is nothing in the file
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # In memory there is no journal, and SQLite ignores what is said about it.
        _switch_to_wal(connection)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_IDLE_WAL}")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot change anything."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn the errors that a user can do something about into `StoreUnusable`."""
    try:
        yield
    except sqlite3.Error as error:
        explanation = in_words(error, place)
        if explanation is error:
            raise
        raise explanation from error


def in_words(error: BaseException, place: str) -> BaseException:
    """`StoreUnusable` for an error that a user can do something about; else the error itself."""
    if not isinstance(error, sqlite3.Error):
        return error
    explanation = _EXPLANATIONS.get(_primary_code(error))
    return error if explanation is None else StoreUnusable(place, *explanation)


def _connect(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=_LOCK_WAIT_SECONDS,
        isolation_level=None,
        # Connections change threads here, but never serve two at once.
        check_same_thread=False,
    )
    connection.row_factory = sqlite3.Row
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Keep trying for a while: here SQLite does not wait for a process that opens the same file."""
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_LOCK_RETRY_SECONDS)
        else:
            return


def _primary_code(error: sqlite3.Error) -> int:
    # Errors of the Python module itself carry no code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
