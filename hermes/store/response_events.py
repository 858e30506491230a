"""The events of streamed responses, in the bytes in which they were sent.

Written behind: whoever streams never waits for the disk. A log goes with its response, or earlier,
when there are too many of them.
"""

from __future__ import annotations

import sqlite3
import zlib

from hermes.store.database import Database
from hermes.store.encoding import bind

SCHEMA = (
    """
    CREATE TABLE response_events (
        id INTEGER PRIMARY KEY,
        response_id TEXT NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
        part INTEGER NOT NULL,      -- counted from 0 within the response
        frames BLOB NOT NULL,       -- whole server-sent events, compressed
        UNIQUE (response_id, part)
    )
    """,
    "CREATE INDEX response_events_begun ON response_events (id) WHERE part = 0",
)

MOST_LOGS = 1000

_NEXT = "SELECT coalesce(max(part) + 1, 0) FROM response_events WHERE response_id = :id"
_KNOWN = "SELECT 1 FROM responses WHERE id = :id"
_APPEND = "INSERT INTO response_events (response_id, part, frames) VALUES (:id, :part, :frames)"
_READ = "SELECT frames FROM response_events WHERE response_id = :id ORDER BY part"
_FORGET = """
    DELETE FROM response_events WHERE response_id IN (
        SELECT response_id FROM response_events WHERE part = 0 ORDER BY id DESC
        LIMIT -1 OFFSET :most
    )
"""


class EventLogs:
    """One log per streamed response, for the `most_logs` newest of them."""

    def __init__(self, database: Database, most_logs: int = MOST_LOGS) -> None:
        self._database = database
        self._most_logs = most_logs

    def append(self, response_id: str, frames: bytes) -> None:
        """Add to the end of a log. Returns at once; nothing is kept for an unknown response."""
        self._database.submit(
            lambda connection: _append(connection, response_id, frames, self._most_logs)
        )

    def read(self, response_id: str) -> bytes:
        """Everything that was appended before this call; empty when there is no log."""
        # What was submitted is written in order, so an empty write waits for all of it.
        self._database.write(lambda _connection: None)
        rows = self._database.read(
            lambda connection: connection.execute(_READ, bind(id=response_id)).fetchall()
        )
        return b"".join(zlib.decompress(row["frames"]) for row in rows)


def _append(
    connection: sqlite3.Connection, response_id: str, frames: bytes, most_logs: int
) -> None:
    if connection.execute(_KNOWN, bind(id=response_id)).fetchone() is None:
        return
    [(part,)] = connection.execute(_NEXT, bind(id=response_id)).fetchall()
    added = {**bind(id=response_id, part=part), "frames": zlib.compress(frames, 1)}
    connection.execute(_APPEND, added)
    if part == 0:
        connection.execute(_FORGET, {"most": most_logs})
