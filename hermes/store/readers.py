"""Read connections, each lent to one thread at a time; no reader waits for another or a write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hermes.store.errors import StoreClosed

_MOST_IDLE = 8


class Readers:
    """A pool that grows with the number of threads that read at the same moment."""

    def __init__(self, open_reader: Callable[[], sqlite3.Connection], place: str) -> None:
        self._open_reader = open_reader
        self._place = place
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one transaction: all its statements see the same moment."""
        connection = self._take()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.rollback()
            self._give_back(connection)

    def close(self) -> None:
        """Close the idle connections now and the lent ones when they come back. Idempotent."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StoreClosed(self._place)
            if self._idle:
                return self._idle.pop()
        return self._open_reader()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()
