"""One SQLite database: a single thread writes, with group commit; every thread reads on its own.

Every call may block. On an event loop, call through a thread.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeVar

from hermes.store.errors import StoreUnusable
from hermes.store.files import make_private
from hermes.store.migrations import Migration, migrate
from hermes.store.readers import Readers
from hermes.store.sqlite import (
    CHECK_PERMISSIONS,
    Synchronous,
    explained,
    open_reader,
    open_writer,
)
from hermes.store.writer import Work, Writer

T = TypeVar("T")


class Database:
    """Opened and migrated when it is built. Whoever builds it closes it.

    `path=None` keeps everything in memory; its reads then share the writer's connection.
    """

    def __init__(
        self,
        path: Path | None,
        migrations: Sequence[Migration],
        *,
        synchronous: Synchronous = "NORMAL",
        can_shrink: bool = False,
    ) -> None:
        self._place = "The in-memory database" if path is None else str(path)
        with explained(self._place):
            if path is not None:
                _prepare_file(path, self._place)
            connection = open_writer(path, synchronous=synchronous, can_shrink=can_shrink)
            _bring_up_to_date(connection, migrations, self._place)
        self._writer = Writer(connection, self._place)
        self._readers = None if path is None else Readers(partial(open_reader, path), self._place)
        self._release = weakref.finalize(self, _release, self._writer, self._readers)

    def write(self, job: Work[T]) -> T:
        """Run `job` in the writer's transaction; returns its result once that is committed.

        What `job` raises undoes its own changes only, and is raised here. It must neither commit
        nor do anything but use its connection: it is run again when the shared transaction fails.
        """
        with explained(self._place):
            return self._writer.write(job)

    def write_alone(self, job: Work[T]) -> T:
        """Like `write`, but outside of any transaction, for what SQLite does nowhere else."""
        with explained(self._place):
            return self._writer.write_alone(job)

    def submit(self, job: Work[T]) -> Future[T]:
        """Like `write`, after everything asked before, but returns at once.

        The future is done after the commit; an error is also logged, for those who do not look.
        """
        return self._writer.submit(job)

    def read(self, query: Work[T]) -> T:
        """Run `query` on one consistent snapshot. It returns values, never a cursor."""
        with explained(self._place):
            if self._readers is None:
                return self._writer.write(query)
            with self._readers.lend() as connection:
                return query(connection)

    def close(self) -> None:
        """Store what was submitted and close the files. Idempotent; any use afterwards raises."""
        self._release.detach()
        if self._readers is not None:
            self._readers.close()
        self._writer.stop(wait=True)


def _bring_up_to_date(
    connection: sqlite3.Connection, migrations: Sequence[Migration], place: str
) -> None:
    try:
        migrate(connection, migrations, place)
    except BaseException:
        connection.close()
        raise


def _prepare_file(path: Path, place: str) -> None:
    try:
        make_private(path)
    except OSError as error:
        problem = f"cannot be opened ({error.strerror})"
        raise StoreUnusable(place, problem, CHECK_PERMISSIONS) from error


def _release(writer: Writer, readers: Readers | None) -> None:
    """Let go of a database that nobody closed.

    This may run wherever garbage is collected, even in the writer's thread, so it waits for the
    writer only when the interpreter exits: that is when the main thread is over.
    """
    if readers is not None:
        readers.close()
    writer.stop(wait=not threading.main_thread().is_alive())
