"""What was used, in SQLite: one row per key and day, one per session."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from hermes.core.ledger import Account, DaySpent, Spent
from hermes.store.database import Database
from hermes.store.migrations import Migration

AMOUNTS = tuple(field.name for field in fields(Spent))
_COLUMNS = """
            calls INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            total_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            cost_usd REAL NOT NULL,             -- of the calls whose cost is known
            unpriced_tokens INTEGER NOT NULL,   -- those of the others
            seconds REAL NOT NULL
"""
_MIGRATIONS: tuple[Migration, ...] = (
    (
        f"""
        CREATE TABLE days (
            owner TEXT NOT NULL,                -- the name of a key
            day TEXT NOT NULL,                  -- in UTC
            {_COLUMNS},
            PRIMARY KEY (owner, day)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX days_by_day ON days (day)",
        f"""
        CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY,
            {_COLUMNS}
        ) WITHOUT ROWID
        """,
    ),
)

_NAMES = ", ".join(AMOUNTS)
_VALUES = ", ".join(f":{name}" for name in AMOUNTS)
_ADDED = ", ".join(f"{name} = {name} + excluded.{name}" for name in AMOUNTS)
_SUMS = ", ".join(f"total({name}) AS {name}" for name in AMOUNTS)

_ADD_DAY = f"""
    INSERT INTO days (owner, day, {_NAMES}) VALUES (:owner, :day, {_VALUES})
    ON CONFLICT (owner, day) DO UPDATE SET {_ADDED}
"""  # noqa: S608 - the fragments are constants
_ADD_SESSION = f"""
    INSERT INTO sessions (session_id, {_NAMES}) VALUES (:session_id, {_VALUES})
    ON CONFLICT (session_id) DO UPDATE SET {_ADDED}
"""  # noqa: S608
_OF_SESSION = f"SELECT {_SUMS} FROM sessions WHERE session_id = :session_id"  # noqa: S608
_OF_DAYS = f"""
    SELECT {_SUMS} FROM days
    WHERE (:owner IS NULL OR owner = :owner) AND (:day IS NULL OR day = :day)
"""  # noqa: S608
_LAST_DAYS = f"""
    SELECT day, {_NAMES} FROM days WHERE owner = :owner ORDER BY day DESC LIMIT :most
"""  # noqa: S608

OwnersDay = tuple[str, str]
"""The name of a key, and a day."""


class SpendingStore:
    """Opened when it is built; in memory without a path. Every call may block."""

    def __init__(self, path: Path | None) -> None:
        self._database = Database(path, _MIGRATIONS)

    def add(self, days: Mapping[OwnersDay, Spent], sessions: Mapping[str, Spent]) -> None:
        """All of it, or nothing."""

        def write(connection: sqlite3.Connection) -> None:
            for (owner, day), spent in days.items():
                connection.execute(_ADD_DAY, {"owner": owner, "day": day, **_amounts(spent)})
            for session_id, spent in sessions.items():
                values = {"session_id": session_id, **_amounts(spent)}
                connection.execute(_ADD_SESSION, values)

        self._database.write(write)

    def total(self, account: Account) -> Spent:
        if account.session_id is not None:
            return self._one(_OF_SESSION, {"session_id": account.session_id})
        return self._one(_OF_DAYS, {"owner": account.owner, "day": account.day})

    def days(self, owner: str, *, most: int) -> list[DaySpent]:
        values = {"owner": owner, "most": most}
        rows = self._database.read(lambda db: db.execute(_LAST_DAYS, values).fetchall())
        return [DaySpent(row["day"], _spent(row)) for row in rows]

    def close(self) -> None:
        self._database.close()

    def _one(self, query: str, values: Mapping[str, Any]) -> Spent:
        [row] = self._database.read(lambda db: db.execute(query, values).fetchall())
        return _spent(row)


def _amounts(spent: Spent) -> dict[str, float]:
    return {name: getattr(spent, name) for name in AMOUNTS}


def _spent(row: sqlite3.Row) -> Spent:
    """SQLite's `total` is always a float; what is counted is whole."""
    amounts = {name: row[name] for name in AMOUNTS}
    whole = {
        name: int(value) for name, value in amounts.items() if name not in ("cost_usd", "seconds")
    }
    return Spent(**{**amounts, **whole})
