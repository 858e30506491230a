"""Stored responses, the least recently used of which go first, and the names of conversations.

A response stores only the messages its turn added; the rest of its history is shared through
`transcripts` with the response it continues.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes.core.messages import Message
from hermes.store import conversations, response_items, transcripts
from hermes.store.conversations import Conversations
from hermes.store.database import Database
from hermes.store.encoding import bind, from_json, from_stored, to_json
from hermes.store.migrations import Migration

HISTORY = "conversation_history"

_MIGRATIONS: tuple[Migration, ...] = (
    (
        *transcripts.SCHEMA,
        """
        CREATE TABLE responses (
            id TEXT PRIMARY KEY,
            record TEXT NOT NULL,       -- JSON, without the history
            transcript INTEGER REFERENCES transcripts (id),
            recency INTEGER NOT NULL    -- the higher, the more recently used
        )
        """,
        "CREATE INDEX responses_by_recency ON responses (recency)",
        # When a node goes, SQLite checks that no response refers to it.
        "CREATE INDEX responses_by_transcript ON responses (transcript)",
        "CREATE TABLE conversations (name TEXT PRIMARY KEY, response_id TEXT NOT NULL)",
        "CREATE INDEX conversations_by_response ON conversations (response_id)",
    ),
    (
        *response_items.SCHEMA,
        # The events of streams; they are in the logs of runs now.
        "CREATE TABLE response_events (id INTEGER PRIMARY KEY)",
        *conversations.SCHEMA,
        "CREATE TABLE signing_keys (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL)",
    ),
    ("DROP TABLE response_events",),
)

IN_PROGRESS = "in_progress"

_NEXT_RECENCY = "(SELECT coalesce(max(recency), 0) + 1 FROM responses)"

_PUT = f"""
    INSERT INTO responses (id, record, transcript, recency)
    VALUES (:id, :record, :transcript, {_NEXT_RECENCY})
    ON CONFLICT (id) DO UPDATE
    SET record = excluded.record, transcript = excluded.transcript, recency = excluded.recency
"""  # noqa: S608 - the fragment is a constant

_TOUCH = f"UPDATE responses SET recency = {_NEXT_RECENCY} WHERE id = :id"  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class _History:
    """The history of a new response, and where its beginning may already be stored."""

    messages: list[Message]
    continues: str | None
    inherited: int


class ResponseStore:
    """Keeps the `max_size` most recently used responses, in memory unless `db_path` is given.

    Every call may block.
    """

    def __init__(self, max_size: int = 10_000, db_path: str | Path | None = None) -> None:
        self._max_size = max_size
        self._database = Database(None if db_path is None else Path(db_path), _MIGRATIONS)
        self.conversations = Conversations(self._database)

    def put(
        self,
        response_id: str,
        record: dict[str, Any],
        *,
        continues: str | None = None,
        inherited: int = 0,
    ) -> None:
        """Store or replace a response.

        The caller vouches that the first `inherited` messages of its history are the history of the
        response `continues`; they are not stored again. When that response is gone, or its history
        has another length, the whole history is.
        """
        history = record.get(HISTORY)
        if isinstance(history, list):
            rest = to_json({key: value for key, value in record.items() if key != HISTORY})
            whole = _History(messages=history, continues=continues, inherited=inherited)
        else:
            rest, whole = to_json(record), None

        def job(connection: sqlite3.Connection) -> None:
            _put(connection, response_id, rest, whole)
            response_items.note(connection, response_id, record)
            _evict(connection, self._max_size)

        self._database.write(job)

    def get(self, response_id: str) -> dict[str, Any] | None:
        """The record as it was put, or None; the response counts as used now."""
        record = self._database.read(lambda connection: _get(connection, response_id))
        if record is not None:
            self._database.submit(
                lambda connection: connection.execute(_TOUCH, bind(id=response_id))
            )
        return record

    def delete(self, response_id: str) -> bool:
        """Remove a response and the conversation names that point to it; False if it is unknown."""
        return self._database.write(lambda connection: _remove(connection, response_id))

    def set_conversation(self, name: str, response_id: str) -> None:
        """Let `name` point to this response from now on."""
        statement = (
            "INSERT INTO conversations (name, response_id) VALUES (:name, :id)"
            " ON CONFLICT (name) DO UPDATE SET response_id = excluded.response_id"
        )
        self._database.write(
            lambda connection: connection.execute(statement, bind(name=name, id=response_id))
        )

    def get_conversation(self, name: str) -> str | None:
        """The response that `name` points to."""
        statement = "SELECT response_id FROM conversations WHERE name = :name"
        rows = self._database.read(
            lambda connection: connection.execute(statement, bind(name=name)).fetchall()
        )
        return from_stored(rows[0][0]) if rows else None

    def find_items(self, item_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Items of responses and conversations by their ids, as far as they are stored."""
        return self._database.read(
            lambda connection: {
                **conversations.find_items(connection, item_ids),
                **response_items.find(connection, item_ids),
            }
        )

    def signing_key(self) -> bytes:
        """Made when it is first needed; it lives and dies with the store."""
        return self._database.write(_signing_key)

    def settle_unfinished(self) -> int:
        """Mark what a process that died left in progress as incomplete; how many there were.

        For the start of the only process that uses the file.
        """
        return self._database.write(_settle_unfinished)

    def __len__(self) -> int:
        return self._database.read(_count)

    def close(self) -> None:
        """Close the file; what was in memory only is gone."""
        self._database.close()


def _put(
    connection: sqlite3.Connection, response_id: str, rest: str, history: _History | None
) -> None:
    replaced = _transcript_of(connection, response_id)
    transcript = None if history is None else _add_transcript(connection, history)
    connection.execute(_PUT, bind(id=response_id, record=rest, transcript=transcript))
    # Only now: the new history may go on from the replaced one.
    transcripts.release(connection, replaced)


def _add_transcript(connection: sqlite3.Connection, history: _History) -> int:
    shared = _transcript_of(connection, history.continues)
    if (
        shared is None
        or history.inherited > len(history.messages)
        or history.inherited != transcripts.length(connection, shared)
    ):
        return transcripts.add(connection, history.messages)
    return transcripts.add(connection, history.messages[history.inherited :], after=shared)


def _transcript_of(connection: sqlite3.Connection, response_id: str | None) -> int | None:
    row = connection.execute(
        "SELECT transcript FROM responses WHERE id = :id", bind(id=response_id)
    ).fetchone()
    return None if row is None else row["transcript"]


def _get(connection: sqlite3.Connection, response_id: str) -> dict[str, Any] | None:
    row = connection.execute(
        "SELECT record, transcript FROM responses WHERE id = :id", bind(id=response_id)
    ).fetchone()
    if row is None:
        return None
    record: dict[str, Any] = from_json(row["record"])
    if row["transcript"] is not None:
        record[HISTORY] = transcripts.read(connection, row["transcript"])
    return record


def _remove(connection: sqlite3.Connection, response_id: str) -> bool:
    transcript = _transcript_of(connection, response_id)
    removed = connection.execute("DELETE FROM responses WHERE id = :id", bind(id=response_id))
    connection.execute("DELETE FROM conversations WHERE response_id = :id", bind(id=response_id))
    transcripts.release(connection, transcript)
    return removed.rowcount > 0


def _settle_unfinished(connection: sqlite3.Connection) -> int:
    rows = connection.execute(
        "SELECT id, record FROM responses WHERE record LIKE :mark",
        {"mark": f'%"status":"{IN_PROGRESS}"%'},
    ).fetchall()
    records = ((row["id"], from_json(row["record"])) for row in rows)
    # The mark may also stand in somebody's text.
    unfinished = [(key, record) for key, record in records if _is_unfinished(record)]
    for key, record in unfinished:
        response = record["response"]
        for part in (response, *response.get("output", ())):
            if part.get("status") == IN_PROGRESS:
                part["status"] = "incomplete"
        settled = bind(record=to_json(record)) | {"id": key}
        connection.execute("UPDATE responses SET record = :record WHERE id = :id", settled)
    return len(unfinished)


def _is_unfinished(record: dict[str, Any]) -> bool:
    response = record.get("response")
    return isinstance(response, dict) and response.get("status") == IN_PROGRESS


def _signing_key(connection: sqlite3.Connection) -> bytes:
    connection.execute(
        "INSERT OR IGNORE INTO signing_keys (id, key) VALUES (1, ?)", (secrets.token_bytes(32),)
    )
    [(key,)] = connection.execute("SELECT key FROM signing_keys").fetchall()
    return bytes(key)


def _evict(connection: sqlite3.Connection, max_size: int) -> None:
    too_many = _count(connection) - max_size
    if too_many <= 0:
        return
    oldest = connection.execute(
        "SELECT id FROM responses ORDER BY recency LIMIT :count", bind(count=too_many)
    ).fetchall()
    for (response_id,) in oldest:
        _remove(connection, from_stored(response_id))


def _count(connection: sqlite3.Connection) -> int:
    [(count,)] = connection.execute("SELECT count(*) FROM responses").fetchall()
    return int(count)
