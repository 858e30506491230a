"""Memories in one SQLite file, `memory.db`: opened when it is first used, empty until it exists."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from hermes.core.ids import new_id
from hermes.core.memories import (
    MOST,
    NOTHING,
    Memory,
    MemoryFull,
    MemoryPage,
    MemoryScope,
    Recollection,
)
from hermes.store import leftovers
from hermes.store.database import Database
from hermes.store.encoding import bind, plain
from hermes.store.errors import StoreUnusable
from hermes.store.migrations import Migration
from hermes.store.opened_later import OpenedLater

LOOK_EVERY_SECONDS = 1.0
"""How soon it is noticed that another process has changed the file."""

_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE memories (
            number INTEGER PRIMARY KEY,         -- in order of creation; never shown
            id TEXT NOT NULL UNIQUE,
            owner TEXT NOT NULL,                -- the name of a key
            session_key TEXT NOT NULL,          -- empty: the key's own
            text TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        )
        """,
        "CREATE INDEX memories_by_scope ON memories (owner, session_key, number)",
    ),
)

_SCOPE = "WHERE owner = :owner AND session_key = :session_key"
_MEMORY = f"SELECT id, text, created_at, updated_at FROM memories {_SCOPE}"  # noqa: S608 - a constant
_BY_ID = f"{_MEMORY} AND id = :id"
_BY_TEXT = f"{_MEMORY} AND text = :text"
_NEWEST_FIRST = f"{_MEMORY} ORDER BY number DESC"
_PAGES = {
    True: f"{_MEMORY} AND number < :place ORDER BY number DESC LIMIT :limit",
    False: f"{_MEMORY} AND number > :place ORDER BY number LIMIT :limit",
}
_COUNT = f"SELECT count(*) FROM memories {_SCOPE}"  # noqa: S608 - a constant
_NUMBER = f"SELECT number FROM memories {_SCOPE} AND id = :id"  # noqa: S608 - a constant
_CHANGE = f"UPDATE memories SET text = :text, updated_at = :now {_SCOPE} AND id = :id"  # noqa: S608 - a constant
_DELETE_ALL = f"DELETE FROM memories {_SCOPE}"  # noqa: S608 - a constant
_DELETE_ONE = f"{_DELETE_ALL} AND id = :id"
_ENDS = {True: 2**62, False: 0}
_INSERT = """
    INSERT INTO memories (id, owner, session_key, text, created_at, updated_at)
    VALUES (:id, :owner, :session_key, :text, :now, :now)
"""

log = logging.getLogger(__name__)


class MemoryStore:
    """Any thread may call; every call but `is_enabled` and `stamp` may block."""

    def __init__(
        self,
        path: Callable[[], Path],
        *,
        is_enabled: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`path` is asked for when the first memory is looked for, not before."""
        self._path = path
        self.is_enabled = is_enabled
        self._clock = clock
        self._lock = threading.Lock()
        self._later = OpenedLater(path, _MIGRATIONS, _finish_removal)
        self._changes = 0
        self._looked_at = float("-inf")
        self._file_state: Hashable = None

    def add(self, scope: MemoryScope, text: str) -> Memory:
        def job(connection: sqlite3.Connection) -> Memory:
            same = _one(connection, _BY_TEXT, scope, text=text)
            if same is not None:
                return same
            [(count,)] = connection.execute(_COUNT, _bound(scope)).fetchall()
            if count >= MOST:
                raise MemoryFull(f"There are {MOST:,} memories already; remove some of them first.")
            now, memory_id = int(self._clock()), new_id("mem_")
            connection.execute(_INSERT, _bound(scope, id=memory_id, text=text, now=now))
            return Memory(id=memory_id, text=text, created_at=now, updated_at=now)

        added = self._later.database().write(job)
        self._note_change()
        return added

    def get(self, scope: MemoryScope, memory_id: str) -> Memory | None:
        return self._later.database().read(lambda connection: _get(connection, scope, memory_id))

    def change(self, scope: MemoryScope, memory_id: str, text: str) -> Memory | None:
        def job(connection: sqlite3.Connection) -> Memory | None:
            values = _bound(scope, id=memory_id, text=text, now=int(self._clock()))
            if connection.execute(_CHANGE, values).rowcount:
                leftovers.mark(connection)
            return _get(connection, scope, memory_id)

        changed = self._later.database().write(job)
        self._note_change()
        _remove_leftovers(self._later.database())
        return changed

    def remove(self, scope: MemoryScope, memory_id: str) -> bool:
        return self._delete(_DELETE_ONE, _bound(scope, id=memory_id)) > 0

    def clear(self, scope: MemoryScope) -> int:
        return self._delete(_DELETE_ALL, _bound(scope))

    def page(
        self, scope: MemoryScope, *, limit: int, after: str | None, newest_first: bool
    ) -> MemoryPage | None:
        def query(connection: sqlite3.Connection) -> MemoryPage | None:
            place = _ENDS[newest_first]
            if after is not None:
                row = connection.execute(_NUMBER, _bound(scope, id=after)).fetchone()
                if row is None:
                    return None
                place = row["number"]
            values = _bound(scope, place=place, limit=limit + 1)
            rows = connection.execute(_PAGES[newest_first], values).fetchall()
            return _page([_memory(row) for row in rows], limit)

        return self._later.database().read(query)

    def find(self, scope: MemoryScope, words: str, *, limit: int) -> MemoryPage:
        wanted = words.casefold().split()

        def query(connection: sqlite3.Connection) -> MemoryPage:
            rows = connection.execute(_NEWEST_FIRST, _bound(scope)).fetchall()
            found = [
                memory
                for memory in map(_memory, rows)
                if all(word in memory.text.casefold() for word in wanted)
            ]
            return _page(found, limit)

        return self._later.database().read(query)

    def recollect(self, scope: MemoryScope, *, characters: int) -> Recollection:
        """Nothing is opened where nothing was ever remembered."""
        if not self._later.is_open and not self._path().exists():
            return NOTHING
        newest = self.find(scope, "", limit=MOST).memories
        told: list[Memory] = []
        for memory in newest:
            characters -= len(memory.text)
            if characters < 0:
                break
            told.append(memory)
        return Recollection(memories=tuple(reversed(told)), left_out=len(newest) - len(told))

    def stamp(self) -> Hashable:
        now = time.monotonic()
        if now - self._looked_at >= LOOK_EVERY_SECONDS:
            self._looked_at = now
            self._file_state = _state_of(str(self._path()))
        return self._changes, self._file_state

    def close(self) -> None:
        """Idempotent. Whoever uses the store afterwards opens it again."""
        self._later.close()

    def _delete(self, statement: str, values: dict[str, Any]) -> int:
        def job(connection: sqlite3.Connection) -> int:
            deleted = connection.execute(statement, values).rowcount
            if deleted:
                leftovers.mark(connection)
            return deleted

        deleted = self._later.database().write(job)
        self._note_change()
        _remove_leftovers(self._later.database())
        return deleted

    def _note_change(self) -> None:
        with self._lock:
            self._changes += 1


def _finish_removal(database: Database) -> None:
    if database.read(leftovers.are_marked):
        _remove_leftovers(database)


def _remove_leftovers(database: Database) -> None:
    """The memories are gone already, so a failure is no error; the next time mends it."""
    try:
        is_done = database.write_alone(leftovers.remove)
    except (StoreUnusable, sqlite3.Error):
        log.exception("removed memories are still in the file")
    else:
        if not is_done:
            log.warning("removed memories are still in the file: another process is reading it")


def _bound(scope: MemoryScope, **values: str | int) -> dict[str, Any]:
    return bind(owner=scope.owner, session_key=scope.session_key, **values)


def _get(connection: sqlite3.Connection, scope: MemoryScope, memory_id: str) -> Memory | None:
    return _one(connection, _BY_ID, scope, id=memory_id)


def _one(
    connection: sqlite3.Connection, statement: str, scope: MemoryScope, **values: str
) -> Memory | None:
    row = connection.execute(statement, _bound(scope, **values)).fetchone()
    return None if row is None else _memory(row)


def _memory(row: sqlite3.Row) -> Memory:
    return Memory(**plain(row))


def _page(memories: Sequence[Memory], limit: int) -> MemoryPage:
    return MemoryPage(memories=tuple(memories[:limit]), has_more=len(memories) > limit)


def _state_of(path: str) -> Hashable:
    """Changes whenever a process writes; None where nothing was ever written."""
    states: list[tuple[int, int, int] | None] = []
    for each in (path, f"{path}-wal"):
        try:
            status = os.stat(each)  # noqa: PTH116  a Path would double the cost of the check
        except OSError:
            states.append(None)
        else:
            states.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(states)
