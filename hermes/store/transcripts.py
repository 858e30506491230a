"""Histories as linked nodes: each holds only the messages it adds to the node before it.

A node lives while somebody holds it: its creator, or a node that goes on from it. The functions run
inside the transaction of their caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hermes.core.messages import Message
from hermes.store.encoding import bind, from_json, to_json

SCHEMA = (
    """
    CREATE TABLE transcripts (
        id INTEGER PRIMARY KEY,
        parent INTEGER REFERENCES transcripts (id),
        length INTEGER NOT NULL,    -- messages from the first node to the end of this one
        messages TEXT NOT NULL,     -- JSON: what this node adds
        holders INTEGER NOT NULL    -- its creator, and the nodes that go on from it
    )
    """,
    # When a node goes, SQLite checks that no other goes on from it.
    "CREATE INDEX transcripts_by_parent ON transcripts (parent)",
)

_WHOLE = """
    WITH RECURSIVE chain (id, parent, messages, distance) AS (
        SELECT id, parent, messages, 0 FROM transcripts WHERE id = :node
        UNION ALL
        SELECT before.id, before.parent, before.messages, chain.distance + 1
        FROM chain JOIN transcripts AS before ON before.id = chain.parent
    )
    SELECT messages FROM chain ORDER BY distance DESC
"""


def add(
    connection: sqlite3.Connection, messages: Sequence[Message], *, after: int | None = None
) -> int:
    """Store `messages` as what follows the node `after`; the caller holds the new node."""
    before = 0
    if after is not None:
        before = length(connection, after)
        connection.execute("UPDATE transcripts SET holders = holders + 1 WHERE id = ?", (after,))
    added = connection.execute(
        "INSERT INTO transcripts (parent, length, messages, holders)"
        " VALUES (:parent, :length, :messages, 1)",
        bind(parent=after, length=before + len(messages), messages=to_json(messages)),
    )
    assert added.lastrowid is not None
    return added.lastrowid


def length(connection: sqlite3.Connection, node: int) -> int:
    """How many messages the whole history up to the end of `node` has."""
    [(count,)] = connection.execute(
        "SELECT length FROM transcripts WHERE id = ?", (node,)
    ).fetchall()
    return int(count)


def read(connection: sqlite3.Connection, node: int) -> list[Message]:
    """The whole history, from the first node to the end of `node`."""
    rows = connection.execute(_WHOLE, {"node": node}).fetchall()
    return [message for (messages,) in rows for message in from_json(messages)]


def release(connection: sqlite3.Connection, node: int | None) -> None:
    """Hold `node` no longer; it goes when nobody else does, and so do the nodes before it."""
    while node is not None:
        [(holders, parent)] = connection.execute(
            "UPDATE transcripts SET holders = holders - 1 WHERE id = ? RETURNING holders, parent",
            (node,),
        ).fetchall()
        if holders:
            return
        connection.execute("DELETE FROM transcripts WHERE id = ?", (node,))
        node = parent
