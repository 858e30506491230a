"""The run store of one process: opened and registered as a worker when it is first needed."""

from __future__ import annotations

import threading
from pathlib import Path

from hermes.core.ids import new_id
from hermes.core.runs import RunRetention
from hermes.store.runs import SqliteRunStore, open_runs

LEASE_SECONDS = 30.0


class ProcessRunStore:
    """Safe from any thread; in memory unless a path is given."""

    def __init__(self, path: Path | None, retention: RunRetention | None = None) -> None:
        self._path = path
        self._retention = retention
        self._lock = threading.Lock()
        self._store: SqliteRunStore | None = None

    def registered(self) -> SqliteRunStore:
        """May block, the first time."""
        if self._store is None:
            with self._lock:
                if self._store is None:
                    self._store = self._open()
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _open(self) -> SqliteRunStore:
        store = SqliteRunStore(open_runs(self._path), retention=self._retention)
        store.register(new_id("worker_"), lease_seconds=LEASE_SECONDS)
        return store
