"""What a deletion leaves behind in the file, and how it is got rid of.

SQLite can overwrite what it deletes, but not the copies it left where rows once lay before they
were moved. Only writing the file anew removes those. Until that has been done there is a mark in
the file (`user_version`), so that a killed process does not make anybody forget it.
"""

from __future__ import annotations

import sqlite3


def mark(connection: sqlite3.Connection) -> None:
    """In the transaction that deletes: something will be left behind."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute("PRAGMA user_version = 1")


def are_marked(connection: sqlite3.Connection) -> bool:
    [(marked,)] = connection.execute("PRAGMA user_version").fetchall()
    return bool(marked)


def remove(connection: sqlite3.Connection) -> bool:
    """Outside of any transaction; takes about a second per 100 MB.

    False when another process kept SQLite from finishing it; the mark then stays.
    """
    if not are_marked(connection):  # another deletion's removal came after both
        return True
    connection.execute("VACUUM")
    [(is_blocked, _, _)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if not is_blocked:
        connection.execute("PRAGMA user_version = 0")
    return not is_blocked
