"""A database that is opened when it is first used: what is never used leaves no file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes.store.database import Database
from hermes.store.migrations import Migration


class OpenedLater:
    """Any thread may call. May block."""

    def __init__(
        self,
        path: Callable[[], Path],
        migrations: Sequence[Migration],
        on_open: Callable[[Database], None] = lambda database: None,
    ) -> None:
        self._path = path
        self._migrations = migrations
        self._on_open = on_open
        self._lock = threading.Lock()
        self._opened: Database | None = None

    @property
    def is_open(self) -> bool:
        return self._opened is not None

    def database(self) -> Database:
        with self._lock:
            if self._opened is None:
                self._opened = Database(self._path(), self._migrations)
                self._on_open(self._opened)
            return self._opened

    def close(self) -> None:
        """Idempotent. Whoever uses it afterwards opens it again."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()
