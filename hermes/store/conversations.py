"""Conversations that clients made and can edit: an ordered list of items, and metadata.

Each remembers the response that spoke last in it, until somebody edits the list: then the items
alone say what was said.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.ports import ConversationHead, ItemPage
from hermes.store.database import Database
from hermes.store.encoding import bind, from_json, from_stored, to_json

Item = dict[str, Any]

SCHEMA = (
    """
    CREATE TABLE conversation_objects (
        id TEXT PRIMARY KEY,
        created_at INTEGER NOT NULL,
        metadata TEXT NOT NULL,     -- JSON
        response_id TEXT            -- spoke last; NULL after an edit
    )
    """,
    """
    CREATE TABLE conversation_items (
        position INTEGER PRIMARY KEY,
        conversation_id TEXT NOT NULL REFERENCES conversation_objects (id) ON DELETE CASCADE,
        item_id TEXT NOT NULL,
        item TEXT NOT NULL,         -- JSON
        UNIQUE (conversation_id, item_id)
    )
    """,
    "CREATE INDEX conversation_items_in_order ON conversation_items (conversation_id, position)",
    "CREATE INDEX conversation_items_by_id ON conversation_items (item_id)",
)

_ADD_ITEM = """
    INSERT INTO conversation_items (conversation_id, item_id, item) VALUES (:id, :item_id, :item)
    ON CONFLICT (conversation_id, item_id) DO NOTHING
"""
_ITEM = "SELECT item FROM conversation_items WHERE conversation_id = :id AND item_id = :item_id"
_ALL_ITEMS = "SELECT item FROM conversation_items WHERE conversation_id = :id ORDER BY position"
_PLACE = """
    SELECT position FROM conversation_items WHERE conversation_id = :id AND item_id = :item_id
"""
_PAGES = {
    False: """
        SELECT item FROM conversation_items WHERE conversation_id = :id AND position > :after
        ORDER BY position LIMIT :limit
    """,
    True: """
        SELECT item FROM conversation_items WHERE conversation_id = :id AND position < :after
        ORDER BY position DESC LIMIT :limit
    """,
}
_FIRST, _LAST = -1, 2**63 - 1


@dataclass(frozen=True, slots=True)
class Conversations:
    """The conversations of one database. Every call may block."""

    _database: Database

    def create(
        self, conversation_id: str, metadata: dict[str, str], items: Sequence[Item]
    ) -> ConversationHead:
        head = ConversationHead(
            id=conversation_id, created_at=int(time.time()), metadata=metadata, response_id=None
        )

        def job(connection: sqlite3.Connection) -> ConversationHead:
            connection.execute(
                "INSERT INTO conversation_objects (id, created_at, metadata)"
                " VALUES (:id, :created_at, :metadata)",
                bind(id=head.id, created_at=head.created_at, metadata=to_json(metadata)),
            )
            _add(connection, head.id, items)
            return head

        return self._database.write(job)

    def get(self, conversation_id: str) -> ConversationHead | None:
        return self._database.read(lambda connection: _head(connection, conversation_id))

    def set_metadata(
        self, conversation_id: str, metadata: dict[str, str]
    ) -> ConversationHead | None:
        statement = "UPDATE conversation_objects SET metadata = :metadata WHERE id = :id"

        def job(connection: sqlite3.Connection) -> ConversationHead | None:
            connection.execute(statement, bind(id=conversation_id, metadata=to_json(metadata)))
            return _head(connection, conversation_id)

        return self._database.write(job)

    def delete(self, conversation_id: str) -> bool:
        statement = "DELETE FROM conversation_objects WHERE id = :id"
        return self._database.write(
            lambda connection: connection.execute(statement, bind(id=conversation_id)).rowcount > 0
        )

    def add_items(self, conversation_id: str, items: Sequence[Item]) -> bool:
        """Put items at the end; False when there is no such conversation."""
        return self._add(conversation_id, items, spoke_last=None)

    def add_turn(self, conversation_id: str, items: Sequence[Item], response_id: str) -> bool:
        """The same for the items of a turn, of which this response has the whole transcript."""
        return self._add(conversation_id, items, spoke_last=response_id)

    def _add(self, conversation_id: str, items: Sequence[Item], spoke_last: str | None) -> bool:
        def job(connection: sqlite3.Connection) -> bool:
            if _head(connection, conversation_id) is None:
                return False
            _add(connection, conversation_id, items)
            _set_last(connection, conversation_id, spoke_last)
            return True

        return self._database.write(job)

    def items(self, conversation_id: str) -> list[Item]:
        """All of them, in order."""
        rows = self._database.read(
            lambda connection: connection.execute(_ALL_ITEMS, bind(id=conversation_id)).fetchall()
        )
        return [from_json(row["item"]) for row in rows]

    def page(
        self, conversation_id: str, *, limit: int, after: str | None, newest_first: bool
    ) -> ItemPage | None:
        """Up to `limit` items behind the item `after`; None when there is no such item."""

        def query(connection: sqlite3.Connection) -> ItemPage | None:
            place = _LAST if newest_first else _FIRST
            if after is not None:
                found = connection.execute(_PLACE, bind(id=conversation_id, item_id=after))
                row = found.fetchone()
                if row is None:
                    return None
                place = row["position"]
            asked = bind(id=conversation_id, after=place, limit=limit + 1)
            rows = connection.execute(_PAGES[newest_first], asked).fetchall()
            items = [from_json(row["item"]) for row in rows]
            return ItemPage(items=items[:limit], has_more=len(items) > limit)

        return self._database.read(query)

    def get_item(self, conversation_id: str, item_id: str) -> Item | None:
        row = self._database.read(
            lambda connection: connection.execute(
                _ITEM, bind(id=conversation_id, item_id=item_id)
            ).fetchone()
        )
        return None if row is None else from_json(row["item"])

    def delete_item(self, conversation_id: str, item_id: str) -> bool:
        statement = (
            "DELETE FROM conversation_items WHERE conversation_id = :id AND item_id = :item_id"
        )

        def job(connection: sqlite3.Connection) -> bool:
            gone = connection.execute(statement, bind(id=conversation_id, item_id=item_id))
            if gone.rowcount:
                _set_last(connection, conversation_id, None)
            return gone.rowcount > 0

        return self._database.write(job)


def find_items(connection: sqlite3.Connection, item_ids: Sequence[str]) -> dict[str, Item]:
    """Items by their ids, whichever conversation they are in."""
    statement = "SELECT item FROM conversation_items WHERE item_id = :item_id LIMIT 1"
    rows = [
        (item_id, connection.execute(statement, bind(item_id=item_id)).fetchone())
        for item_id in item_ids
    ]
    return {item_id: from_json(row["item"]) for item_id, row in rows if row is not None}


def _head(connection: sqlite3.Connection, conversation_id: str) -> ConversationHead | None:
    row = connection.execute(
        "SELECT created_at, metadata, response_id FROM conversation_objects WHERE id = :id",
        bind(id=conversation_id),
    ).fetchone()
    if row is None:
        return None
    last = row["response_id"]
    return ConversationHead(
        id=conversation_id,
        created_at=row["created_at"],
        metadata=from_json(row["metadata"]),
        response_id=None if last is None else from_stored(last),
    )


def _add(connection: sqlite3.Connection, conversation_id: str, items: Sequence[Item]) -> None:
    for item in items:
        added = bind(id=conversation_id, item_id=str(item["id"]), item=to_json(item))
        connection.execute(_ADD_ITEM, added)


def _set_last(
    connection: sqlite3.Connection, conversation_id: str, response_id: str | None
) -> None:
    connection.execute(
        "UPDATE conversation_objects SET response_id = :response WHERE id = :id",
        bind(id=conversation_id, response=response_id),
    )
