"""`SqliteShadow`: what files were, by digest, and who changed them (`hermes.core.shadow`).

One file instead of one per content: a whole workspace is kept with one flush of the disk.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes.core.changes import FileChange, FileState
from hermes.core.shadow import NO_CONTENTS, Contents, Deed, Doer, Entry, Opening, Stamp
from hermes.core.value_json import reader_of, to_plain
from hermes.store import shadow_retention
from hermes.store.database import Database
from hermes.store.encoding import bind, from_json, from_stored, to_json, to_stored
from hermes.store.shadow_retention import ShadowRetention
from hermes.store.shadow_schema import SHADOW_MIGRATIONS

_WORTH_PACKING = 64
"""Bytes."""

_read_state = reader_of(FileState)
_read_change = reader_of(FileChange, {"before": _read_state, "after": _read_state})

_KEEP = """
    INSERT OR IGNORE INTO contents (digest, stored_bytes, is_packed, content) VALUES (?, ?, ?, ?)
"""
_MISSING = """
    SELECT value FROM json_each(:digests)
    WHERE NOT EXISTS (SELECT 1 FROM contents WHERE digest = value)
"""
_SEEN = """
    INSERT INTO workspaces (root, seen_at) VALUES (:root, :now)
    ON CONFLICT (root) DO UPDATE SET seen_at = :now RETURNING number
"""
_FILES = """
    SELECT path, mode, size, mtime_ns, ctime_ns, inode, read_at_ns, digest FROM files
    WHERE workspace = (SELECT number FROM workspaces WHERE root = :root)
"""
_PUT = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BEGIN = "INSERT INTO openings VALUES (:id, :run_id, :call_id, :root, :process, :before)"
_DEED = """
    INSERT INTO deeds (run_id, call_id, root, path, change, before_digest, after_digest, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_UNDONE = """
    INSERT INTO undone (run_id, at) VALUES (:run_id, :at)
    ON CONFLICT (run_id) DO UPDATE SET at = :at
"""


class SqliteShadow:
    """Opened in `path`, or in memory without one. Whoever builds it closes it."""

    def __init__(
        self,
        path: Path | None,
        retention: ShadowRetention | None = None,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._retention = retention or ShadowRetention()
        self._now = now
        self._database = Database(path, SHADOW_MIGRATIONS, synchronous="FULL", can_shrink=True)

    # --- contents -----------------------------------------------------------------------------

    def content(self, digest: str) -> bytes | None:
        statement = "SELECT is_packed, content FROM contents WHERE digest = :digest"
        row = self._row(statement, digest=digest)
        if row is None:
            return None
        return zlib.decompress(row["content"]) if row["is_packed"] else bytes(row["content"])

    def missing(self, digests: Collection[str]) -> set[str]:
        return self._database.read(lambda connection: _missing(connection, digests))

    # --- workspaces ---------------------------------------------------------------------------

    def entries(self, root: str) -> dict[str, Entry]:
        rows = self._rows(_FILES, {"root": os.fsencode(root)})
        return {os.fsdecode(row["path"]): _entry(row) for row in rows}

    def update(
        self,
        root: str,
        seen: Mapping[str, Entry],
        gone: Collection[str] = (),
        contents: Contents = NO_CONTENTS,
    ) -> None:
        now = self._now()

        def put(connection: sqlite3.Connection) -> None:
            _keep(connection, contents)
            values = {"root": os.fsencode(root), "now": now}
            [(number,)] = connection.execute(_SEEN, values).fetchall()
            rows = [_file_row(number, path, entry) for path, entry in seen.items()]
            connection.executemany(_PUT, rows)
            connection.executemany(
                "DELETE FROM files WHERE workspace = ? AND path = ?",
                [(number, os.fsencode(path)) for path in gone],
            )

        self._database.write(put)

    # --- deeds --------------------------------------------------------------------------------

    def begin(self, opening: Opening, contents: Contents = NO_CONTENTS) -> None:
        row = bind(
            id=opening.id,
            run_id=opening.doer.run_id,
            call_id=opening.doer.call_id,
            root=os.fsencode(opening.root),
            process=opening.process,
            before=None if opening.before is None else to_json(to_plain(opening.before)),
        )

        def start(connection: sqlite3.Connection) -> None:
            _keep(connection, contents)
            connection.execute(_BEGIN, row)

        self._database.write(start)

    def finish(
        self, opening_id: str, deeds: Sequence[Deed], contents: Contents = NO_CONTENTS
    ) -> None:
        rows = [_deed_row(deed, self._now()) for deed in deeds]

        def end(connection: sqlite3.Connection) -> None:
            _keep(connection, contents)
            connection.execute("DELETE FROM openings WHERE id = ?", (opening_id,))
            connection.executemany(_DEED, rows)

        self._database.write(end)

    def openings(self) -> list[Opening]:
        return [_opening(row) for row in self._rows("SELECT * FROM openings", {})]

    def deeds_of(self, run_id: str) -> list[Deed]:
        statement = "SELECT * FROM deeds WHERE run_id = :run_id ORDER BY number"
        return [_deed(row) for row in self._rows(statement, bind(run_id=run_id))]

    def last_deed(self, path: str) -> Deed | None:
        statement = "SELECT * FROM deeds WHERE path = :path ORDER BY number DESC LIMIT 1"
        row = self._row(statement, path=os.fsencode(path))
        return None if row is None else _deed(row)

    def undone_at(self, run_id: str) -> float | None:
        row = self._row("SELECT at FROM undone WHERE run_id = :run_id", run_id=run_id)
        return None if row is None else float(row["at"])

    def set_undone(self, run_id: str, at: float) -> None:
        row = bind(run_id=run_id, at=at)
        self._database.write(lambda connection: connection.execute(_UNDONE, row).rowcount)

    # --- housekeeping -------------------------------------------------------------------------

    def runs(self) -> set[str]:
        rows = self._rows("SELECT DISTINCT run_id FROM deeds WHERE run_id IS NOT NULL", {})
        return {from_stored(row["run_id"]) for row in rows}

    def forget(self, run_ids: Collection[str]) -> None:
        shadow_retention.forget(self._database, run_ids)

    def sweep(self, now: float) -> None:
        shadow_retention.sweep(self._database, self._retention, now)

    def close(self) -> None:
        self._database.close()

    def _rows(self, statement: str, values: Mapping[str, Any]) -> list[sqlite3.Row]:
        return self._database.read(
            lambda connection: connection.execute(statement, dict(values)).fetchall()
        )

    def _row(self, statement: str, **values: Any) -> sqlite3.Row | None:
        rows = self._rows(statement, bind(**values))
        return rows[0] if rows else None


def _keep(connection: sqlite3.Connection, contents: Contents) -> None:
    """In the transaction that refers to them, so that no sweep comes between."""
    missing = _missing(connection, contents) if contents else ()
    connection.executemany(_KEEP, ((digest, *_packed(contents[digest])) for digest in missing))


def _missing(connection: sqlite3.Connection, digests: Collection[str]) -> set[str]:
    wanted = {"digests": to_json(list(digests))}
    return {str(row["value"]) for row in connection.execute(_MISSING, wanted)}


def _packed(content: bytes) -> tuple[int, bool, bytes]:
    """How many bytes it takes, whether it is packed, and the bytes."""
    if len(content) > _WORTH_PACKING:
        packed = zlib.compress(content, level=1)
        if len(packed) < len(content):
            return len(packed), True, packed
    return len(content), False, content


def _entry(row: sqlite3.Row) -> Entry:
    stamp = Stamp(row["mode"], row["size"], row["mtime_ns"], row["ctime_ns"], row["inode"])
    state = FileState(
        digest=row["digest"],
        mode=stat.S_IMODE(stamp.mode),
        size=stamp.size,
        is_link=stat.S_ISLNK(stamp.mode),
        is_folder=stat.S_ISDIR(stamp.mode),
    )
    return Entry(stamp, state, row["read_at_ns"])


def _file_row(number: int, path: str, entry: Entry) -> tuple[Any, ...]:
    return (number, os.fsencode(path), *entry.stamp, entry.read_at_ns, entry.state.digest)


def _deed_row(deed: Deed, at: float) -> tuple[Any, ...]:
    change = deed.change
    return (
        deed.doer.run_id,
        to_stored(deed.doer.call_id),
        os.fsencode(deed.root),
        os.fsencode(change.path),
        to_stored(to_json(to_plain(change))),
        None if change.before is None else change.before.digest,
        None if change.after is None else change.after.digest,
        at,
    )


def _deed(row: sqlite3.Row) -> Deed:
    run_id = row["run_id"]
    return Deed(
        doer=Doer(None if run_id is None else from_stored(run_id), from_stored(row["call_id"])),
        root=os.fsdecode(row["root"]),
        change=_read_change(from_json(row["change"])),
    )


def _opening(row: sqlite3.Row) -> Opening:
    run_id, before = row["run_id"], row["before"]
    return Opening(
        id=row["id"],
        doer=Doer(None if run_id is None else from_stored(run_id), from_stored(row["call_id"])),
        root=os.fsdecode(row["root"]),
        process=row["process"],
        before=None if before is None else tuple(_read_before(from_json(before))),
    )


def _read_before(pairs: list[Any]) -> list[tuple[str, FileState | None]]:
    return [(path, None if state is None else _read_state(state)) for path, state in pairs]
