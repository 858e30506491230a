"""The engines that the store of runs has, each as a place that several workers share.

A new engine is one more class in `ENGINES`: every test of this package then holds it to the same
behaviour.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from hermes.core.run_ports import RunStore
from hermes.core.runs import RunRetention
from hermes.store.database import Database
from hermes.store.runs import SqliteRunStore, open_runs

LEASE = 10.0


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


class Place(Protocol):
    """Where runs are kept. Whoever makes it closes it."""

    clock: Clock

    def store(self, *, retention: RunRetention | None = None, is_alone: bool = False) -> RunStore:
        """A store as another process would open it; nobody has registered yet."""

    def close(self) -> None: ...


class SqliteFile:
    """Every store opens the file on its own, as a process does."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.path = folder / "runs.db"
        self._stores: list[RunStore] = []

    def store(self, *, retention: RunRetention | None = None, is_alone: bool = False) -> RunStore:
        store = SqliteRunStore(
            open_runs(self.path), retention=retention, is_alone=is_alone, now=self.clock
        )
        self._stores.append(store)
        return store

    def close(self) -> None:
        for store in self._stores:
            store.close()


class SqliteMemory:
    """All stores share the one database there is."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self._database: Database = open_runs(None)

    def store(self, *, retention: RunRetention | None = None, is_alone: bool = False) -> RunStore:
        return SqliteRunStore(
            self._database, retention=retention, is_alone=is_alone, now=self.clock
        )

    def close(self) -> None:
        self._database.close()


ENGINES = (SqliteFile, SqliteMemory)
