"""Chat completions that clients asked to be kept, the oldest of which go first."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes.store.database import Database
from hermes.store.encoding import bind, from_json, to_json
from hermes.store.migrations import Migration

_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE chats (
            number INTEGER PRIMARY KEY,     -- in order of creation; never shown
            id TEXT NOT NULL UNIQUE,
            model TEXT NOT NULL,
            completion TEXT NOT NULL,       -- JSON, without the metadata
            messages TEXT NOT NULL,         -- JSON: what was asked
            metadata TEXT NOT NULL          -- JSON: names and texts
        )
        """,
    ),
)

_COMPLETION = "SELECT completion, metadata FROM chats"

_PAGE = f"""
    {_COMPLETION} WHERE number {{beyond}} :number
    AND (:model IS NULL OR model = :model)
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:wanted) AS wanted WHERE NOT EXISTS (
            SELECT 1 FROM json_each(chats.metadata) AS had
            WHERE had.key = wanted.key AND had.value = wanted.value
        )
    )
    ORDER BY number {{order}} LIMIT :limit
"""  # noqa: S608 - the fragments are constants
_OLDEST_FIRST = _PAGE.format(beyond=">", order="ASC")
_NEWEST_FIRST = _PAGE.format(beyond="<", order="DESC")
_BEYOND_ALL = 2**62


class ChatStore:
    """Keeps the `max_size` newest completions, in memory unless `db_path` is given.

    Every call may block.
    """

    def __init__(self, max_size: int = 10_000, db_path: str | Path | None = None) -> None:
        self._max_size = max_size
        self._database = Database(None if db_path is None else Path(db_path), _MIGRATIONS)

    def put(
        self,
        completion: Mapping[str, Any],
        messages: list[dict[str, Any]],
        metadata: Mapping[str, str],
    ) -> None:
        row = bind(
            id=completion["id"],
            model=completion["model"],
            completion=to_json(completion),
            messages=to_json(messages),
            metadata=to_json(metadata),
        )

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO chats (id, model, completion, messages, metadata)"
                " VALUES (:id, :model, :completion, :messages, :metadata)",
                row,
            )
            connection.execute(
                "DELETE FROM chats WHERE number <= (SELECT number FROM chats"
                " ORDER BY number DESC LIMIT 1 OFFSET :kept)",
                bind(kept=self._max_size),
            )

        self._database.write(job)

    def get(self, chat_id: str) -> dict[str, Any] | None:
        """The completion with its `metadata`."""
        return self._database.read(lambda connection: _get(connection, chat_id))

    def messages(self, chat_id: str) -> list[dict[str, Any]] | None:
        """What was asked, as it was put; None if the completion is unknown."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT messages FROM chats WHERE id = :id", bind(id=chat_id)
            ).fetchall()
        )
        return from_json(rows[0]["messages"]) if rows else None

    def page(
        self,
        *,
        limit: int,
        after: str | None = None,
        newest_first: bool = False,
        model: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]] | None:
        """Up to `limit` completions that match, beyond `after`; None if `after` is unknown."""
        wanted = bind(model=model, wanted=to_json(metadata or {}), limit=limit)

        def query(connection: sqlite3.Connection) -> list[dict[str, Any]] | None:
            number = _BEYOND_ALL if newest_first else -1
            if after is not None:
                found = connection.execute(
                    "SELECT number FROM chats WHERE id = :id", bind(id=after)
                ).fetchone()
                if found is None:
                    return None
                number = found["number"]
            statement = _NEWEST_FIRST if newest_first else _OLDEST_FIRST
            rows = connection.execute(statement, {**wanted, "number": number}).fetchall()
            return [_completion(row) for row in rows]

        return self._database.read(query)

    def set_metadata(self, chat_id: str, metadata: Mapping[str, str]) -> dict[str, Any] | None:
        """The completion with its new metadata; None if it is unknown."""

        def job(connection: sqlite3.Connection) -> dict[str, Any] | None:
            connection.execute(
                "UPDATE chats SET metadata = :metadata WHERE id = :id",
                bind(id=chat_id, metadata=to_json(metadata)),
            )
            return _get(connection, chat_id)

        return self._database.write(job)

    def delete(self, chat_id: str) -> bool:
        """False if it is unknown."""
        return self._database.write(
            lambda connection: (
                connection.execute("DELETE FROM chats WHERE id = :id", bind(id=chat_id)).rowcount
                > 0
            )
        )

    def close(self) -> None:
        """Close the file; what was in memory only is gone."""
        self._database.close()


def _get(connection: sqlite3.Connection, chat_id: str) -> dict[str, Any] | None:
    row = connection.execute(f"{_COMPLETION} WHERE id = :id", bind(id=chat_id)).fetchone()
    return None if row is None else _completion(row)


def _completion(row: sqlite3.Row) -> dict[str, Any]:
    return {**from_json(row["completion"]), "metadata": from_json(row["metadata"])}
