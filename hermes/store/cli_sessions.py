"""Which conversation of a CLI agent stands for which session, in one SQLite file, `cli.db`."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from hermes.core.cli_sessions import CliMemory
from hermes.core.usage import Usage
from hermes.core.value_json import reader_of, to_plain
from hermes.store.migrations import Migration
from hermes.store.opened_later import OpenedLater

_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE cli_sessions (
            agent TEXT NOT NULL,
            session_id TEXT NOT NULL,
            home_id TEXT NOT NULL,
            cli_session_id TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            used TEXT NOT NULL,                 -- a Usage as JSON
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (agent, session_id)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX cli_sessions_by_session ON cli_sessions (session_id)",
    ),
)
_FIELDS = "agent, session_id, home_id, cli_session_id, fingerprint, used"
_FIND = f"SELECT {_FIELDS} FROM cli_sessions WHERE agent = ? AND session_id = ?"  # noqa: S608
_OF_SESSION = f"SELECT {_FIELDS} FROM cli_sessions WHERE session_id = ?"  # noqa: S608
_KEEP = f"""
    INSERT OR REPLACE INTO cli_sessions ({_FIELDS}, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""  # noqa: S608
_FORGET = "DELETE FROM cli_sessions WHERE session_id = ?"
_SESSIONS = "SELECT DISTINCT session_id FROM cli_sessions"
_HOMES = "SELECT agent, home_id FROM cli_sessions"

_usage = reader_of(Usage)


class CliSessionStore:
    """A `CliMemories`. Opened when it is first used."""

    def __init__(self, path: Callable[[], Path], *, clock: Callable[[], float] = time.time) -> None:
        self._later = OpenedLater(path, _MIGRATIONS)
        self._clock = clock

    def find(self, agent: str, session_id: str) -> CliMemory | None:
        row = self._later.database().read(
            lambda connection: connection.execute(_FIND, (agent, session_id)).fetchone()
        )
        return None if row is None else _memory(row)

    def keep(self, memory: CliMemory) -> None:
        values = (
            memory.agent,
            memory.session_id,
            memory.home_id,
            memory.cli_session_id,
            memory.fingerprint,
            json.dumps(to_plain(memory.used)),
            int(self._clock()),
        )
        self._later.database().write(lambda connection: connection.execute(_KEEP, values).rowcount)

    def forget(self, session_id: str) -> list[CliMemory]:
        def job(connection: sqlite3.Connection) -> list[CliMemory]:
            found = connection.execute(_OF_SESSION, (session_id,)).fetchall()
            connection.execute(_FORGET, (session_id,))
            return [_memory(row) for row in found]

        return self._later.database().write(job)

    def session_ids(self) -> set[str]:
        """Every session that something stands for."""
        rows = self._later.database().read(
            lambda connection: connection.execute(_SESSIONS).fetchall()
        )
        return {session_id for (session_id,) in rows}

    def homes(self) -> set[tuple[str, str]]:
        """Every agent with the folders that are still needed."""
        rows = self._later.database().read(lambda connection: connection.execute(_HOMES).fetchall())
        return {(agent, home_id) for agent, home_id in rows}

    def close(self) -> None:
        """Idempotent. Whoever uses the store afterwards opens it again."""
        self._later.close()


def _memory(row: sqlite3.Row) -> CliMemory:
    agent, session_id, home_id, cli_session_id, fingerprint, used = row
    return CliMemory(
        agent=agent,
        session_id=session_id,
        home_id=home_id,
        cli_session_id=cli_session_id,
        fingerprint=fingerprint,
        used=_usage(json.loads(used)),
    )
