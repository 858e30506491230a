"""Which stored response holds which item, so that an item can be found by its id alone.

The items themselves stay in the records. The functions run inside the transaction of their caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from hermes.store.encoding import bind, from_json, from_stored

INPUT = "input_items"

SCHEMA = (
    """
    CREATE TABLE response_items (
        item_id TEXT PRIMARY KEY,
        response_id TEXT NOT NULL REFERENCES responses (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX response_items_by_response ON response_items (response_id)",
)

_FIND = """
    SELECT record FROM responses
    WHERE id = (SELECT response_id FROM response_items WHERE item_id = :item)
"""


def note(connection: sqlite3.Connection, response_id: str, record: Mapping[str, Any]) -> None:
    """Remember the items of a record; one that came back as input belongs to its first response."""
    for item_id in _ids(record):
        connection.execute(
            "INSERT OR IGNORE INTO response_items (item_id, response_id) VALUES (:item, :id)",
            bind(item=item_id, id=response_id),
        )


def find(connection: sqlite3.Connection, item_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The items by their ids, as far as they are stored."""
    wanted, found = set(item_ids), dict[str, dict[str, Any]]()
    while wanted:
        row = connection.execute(_FIND, bind(item=wanted.pop())).fetchone()
        if row is not None:
            here = {str(item["id"]): item for item in _items(from_json(from_stored(row["record"])))}
            found.update({item_id: here[item_id] for item_id in here if item_id not in found})
            wanted -= here.keys()
    return found


def _ids(record: Mapping[str, Any]) -> list[str]:
    return [str(item["id"]) for item in _items(record)]


def _items(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    response = record.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    items = [*(record.get(INPUT) or ()), *(output or ())]
    return [item for item in items if isinstance(item, dict) and item.get("id")]
