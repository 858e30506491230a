"""Uploaded files: their bytes in a folder, what is known of them in an index beside it.

Every call may block. A file is on disk under its id alone; what a client called it is a value.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes.core.errors import BodyTooLarge
from hermes.core.ids import new_id
from hermes.core.uploads import Draft, FilePage, UploadedFile
from hermes.settings.model import FileSettings
from hermes.store.database import Database
from hermes.store.encoding import bind, plain
from hermes.store.files import open_private
from hermes.store.migrations import Migration

INDEX = "index.db"

_DAY = 86_400
_DRAFT = ".draft"
_ABANDONED_SECONDS = 3600

_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE files (
            place INTEGER PRIMARY KEY AUTOINCREMENT,    -- the order of arrival
            id TEXT NOT NULL UNIQUE,
            filename TEXT NOT NULL,
            purpose TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER
        )
        """,
        "CREATE INDEX files_by_expiry ON files (expires_at)",
    ),
)

_FIND = "SELECT * FROM files WHERE id = :id AND (expires_at IS NULL OR expires_at > :now)"
_PAGE_ASCENDING = """
    SELECT * FROM files
    WHERE (expires_at IS NULL OR expires_at > :now)
    AND (:purpose IS NULL OR purpose = :purpose)
    AND (:after IS NULL OR place > (SELECT place FROM files WHERE id = :after))
    ORDER BY place ASC LIMIT :limit
"""
_PAGE_DESCENDING = _PAGE_ASCENDING.replace("place >", "place <").replace("ASC", "DESC")


class FileDraft:
    """A file that is still arriving. Whoever began it keeps it or discards it."""

    def __init__(self, path: Path, reserve: Callable[[int, int], None]) -> None:
        self.path = path
        self.size = 0
        self._reserve = reserve
        self._file = open_private(path)
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Raises `BodyTooLarge` before anything is over a limit."""
        # A write whose caller left may come after the end.
        with self._lock:
            if self._file.closed:
                return
            self._reserve(self.size, len(data))
            self.size += len(data)
            self._file.write(data)

    def close(self) -> None:
        with self._lock:
            self._file.close()


class UploadStore:
    """Opened in `folder`, which is made for its owner only. Whoever builds it closes it."""

    def __init__(
        self, folder: Path, limits: FileSettings, *, now: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._now = now
        self._lock = threading.Lock()
        self._database = Database(folder / INDEX, _MIGRATIONS)
        self._taken = self._database.read(_total)
        self.sweep()
        self._remove_strays()

    @property
    def max_bytes(self) -> int:
        return self._limits.max_bytes

    def too_large(self) -> BodyTooLarge:
        return BodyTooLarge(
            f"A file may have at most {self.max_bytes} bytes (the operator's setting is "
            "files.max_bytes); send a smaller one.",
            code="file_too_large",
            param="file",
        )

    def _full(self) -> BodyTooLarge:
        return BodyTooLarge(
            f"The stored files take up the {self._limits.max_total_bytes} bytes there are for them "
            "(the operator's setting is files.max_total_bytes); delete some with "
            "DELETE /v1/files/{file_id}.",
            code="files_full",
            param="file",
        )

    def begin(self) -> FileDraft:
        """Room for a file that arrives; what has expired makes room first."""
        self.sweep()
        return FileDraft(self._folder / (new_id("upload-") + _DRAFT), self._reserve)

    def _reserve(self, size: int, more: int) -> None:
        """Count bytes of a draft before they are written."""
        if size + more > self._limits.max_bytes:
            raise self.too_large()
        with self._lock:
            if self._taken + more > self._limits.max_total_bytes:
                raise self._full()
            self._taken += more

    def keep(
        self, draft: Draft, *, filename: str, purpose: str, expires_after: int | None
    ) -> UploadedFile:
        """Make the draft a file; it is there when this returns."""
        draft.close()
        created_at = int(self._now())
        file = UploadedFile(
            id=new_id("file-"),
            filename=filename,
            purpose=purpose,
            bytes=draft.size,
            created_at=created_at,
            expires_at=self._expiry(created_at, expires_after),
        )
        # The bytes come first: an entry is a promise that they are there.
        draft.path.rename(self._path(file.id))
        try:
            self._database.write(lambda connection: _insert(connection, file))
        except BaseException:
            self._path(file.id).rename(draft.path)
            raise
        return file

    def discard(self, draft: Draft) -> None:
        """Forget what arrived. A draft that was kept is left alone."""
        with suppress(OSError):  # what could not be written need not be
            draft.close()
        if draft.path.exists():
            draft.path.unlink()
            self._give_back(draft.size)

    def get(self, file_id: str) -> UploadedFile | None:
        parameters = bind(id=file_id, now=self._now())
        row = self._database.read(
            lambda connection: connection.execute(_FIND, parameters).fetchone()
        )
        return None if row is None or not self._path(row["id"]).is_file() else _file(row)

    def path(self, file: UploadedFile) -> Path:
        """Where its bytes are, until it expires or is deleted."""
        return self._path(file.id)

    def read(self, file: UploadedFile) -> bytes | None:
        """Its bytes; None when it was deleted meanwhile."""
        try:
            return self._path(file.id).read_bytes()
        except FileNotFoundError:
            return None

    def page(self, page: FilePage) -> tuple[list[UploadedFile], bool]:
        """The files of a page, and whether there are more behind them."""
        statement = _PAGE_ASCENDING if page.is_ascending else _PAGE_DESCENDING
        parameters = bind(
            now=self._now(), purpose=page.purpose, after=page.after, limit=page.limit + 1
        )
        rows = self._database.read(
            lambda connection: connection.execute(statement, parameters).fetchall()
        )
        return [_file(row) for row in rows[: page.limit]], len(rows) > page.limit

    def delete(self, file_id: str) -> bool:
        """False when there is no such file."""
        file = self.get(file_id)
        return file is not None and self._remove(file)

    def sweep(self) -> int:
        """Remove what has expired; how many there were."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT * FROM files WHERE expires_at <= :now", {"now": self._now()}
            ).fetchall()
        )
        return sum(self._remove(_file(row)) for row in rows)

    def close(self) -> None:
        self._database.close()

    def _remove(self, file: UploadedFile) -> bool:
        """The entry goes first: bytes without an entry are swept up, the reverse is a lie."""
        removed = self._database.write(
            lambda connection: (
                connection.execute("DELETE FROM files WHERE id = :id", bind(id=file.id)).rowcount
            )
        )
        if removed:
            self._path(file.id).unlink(missing_ok=True)
            self._give_back(file.bytes)
        return bool(removed)

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size

    def _expiry(self, created_at: int, expires_after: int | None) -> int | None:
        if expires_after is not None:
            return created_at + expires_after
        return created_at + self._limits.expire_days * _DAY if self._limits.expire_days else None

    def _path(self, file_id: str) -> Path:
        return self._folder / file_id

    def _remove_strays(self) -> None:
        """What a process that died left behind: drafts, and bytes that have no entry."""
        known = self._database.read(
            lambda connection: {row["id"] for row in connection.execute("SELECT id FROM files")}
        )
        for path in self._folder.iterdir():
            is_ours = path.suffix == _DRAFT or path.name.startswith("file-")
            # A young one may belong to a process that is at work.
            age = self._now() - path.stat().st_mtime
            if is_ours and path.name not in known and age > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)


def _total(connection: sqlite3.Connection) -> int:
    [(total,)] = connection.execute("SELECT coalesce(sum(bytes), 0) FROM files").fetchall()
    return int(total)


def _insert(connection: sqlite3.Connection, file: UploadedFile) -> None:
    connection.execute(
        "INSERT INTO files (id, filename, purpose, bytes, created_at, expires_at)"
        " VALUES (:id, :filename, :purpose, :bytes, :created_at, :expires_at)",
        bind(
            id=file.id,
            filename=file.filename,
            purpose=file.purpose,
            bytes=file.bytes,
            created_at=file.created_at,
            expires_at=file.expires_at,
        ),
    )


def _file(row: sqlite3.Row) -> UploadedFile:
    values = plain(row)
    del values["place"]
    return UploadedFile(**values)
