"""Sessions and their messages in one SQLite file. Times are seconds since 1970, as floats.

It stores what it is told and knows nothing of agents, requests or models.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hermes.core.messages import Content, Message
from hermes.store.database import Database
from hermes.store.encoding import bind, from_json, from_stored, plain, to_json
from hermes.store.errors import SessionExists, UnknownSession
from hermes.store.session_schema import MIGRATIONS

_SESSION = (
    "SELECT id, source, model, title, parent_session_id, end_reason,"
    " started_at, ended_at, updated_at, message_count FROM sessions"
)

_APPEND = """
    INSERT INTO messages
        (session_id, role, content, tool_calls, tool_call_id, tool_name, run_id, step, timestamp)
    VALUES
        (:session_id, :role, :content, :tool_calls, :tool_call_id, :tool_name, :run_id, :step, :now)
"""

_FIND_STEP = """
    SELECT id FROM messages WHERE session_id = :session_id AND run_id = :run_id AND step = :step
"""

_FORK = """
    INSERT INTO sessions (id, source, model, title, parent_session_id, started_at, updated_at)
    SELECT :new_id, source, model, coalesce(:title, title), id, :now, :now
    FROM sessions WHERE id = :id
"""

_COPY_MESSAGES = """
    INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp)
    SELECT :new_id, role, content, tool_calls, tool_call_id, tool_name, timestamp
    FROM messages WHERE session_id = :id ORDER BY id
"""

_LARGEST_INTEGER = 2**63 - 1
_NO_RUN = ""
"""A run id that no message has, not even one that no run said."""


class SessionDB:
    """Every session of one home folder. Any thread may call; every call may block."""

    def __init__(self, path: Path | str, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._database = Database(Path(path), MIGRATIONS)

    def create_session(self, session_id: str, source: str, model: str | None = None) -> str:
        """Make sure the session exists; an existing one is left as it is."""
        statement = (
            "INSERT INTO sessions (id, source, model, started_at, updated_at)"
            " VALUES (:id, :source, :model, :now, :now) ON CONFLICT (id) DO NOTHING"
        )
        self._change(statement, id=session_id, source=source, model=model)
        return session_id

    def get_session(self, session_id: str) -> dict[str, Any] | None:
        sessions = self._rows(f"{_SESSION} WHERE id = :id", id=session_id)
        return sessions[0] if sessions else None

    def list_sessions(self, *, limit: int, offset: int) -> list[dict[str, Any]]:
        """A page of sessions, the most recently changed first."""
        statement = f"{_SESSION} ORDER BY updated_at DESC, number DESC LIMIT :limit OFFSET :offset"
        return self._rows(statement, limit=_in_range(limit), offset=_in_range(offset))

    def count_sessions(self) -> int:
        [row] = self._rows("SELECT count(*) AS count FROM sessions")
        return int(row["count"])

    def set_session_title(self, session_id: str, title: str | None) -> bool:
        """False if there is no such session."""
        statement = "UPDATE sessions SET title = :title, updated_at = :now WHERE id = :id"
        return self._change(statement, id=session_id, title=title)

    def end_session(self, session_id: str, reason: str) -> bool:
        """Note that and why the session ended; False if there is no such session."""
        return self._database.write(
            lambda connection: _end(connection, session_id, reason, self._clock())
        )

    def delete_session(self, session_id: str) -> bool:
        """Delete a session and its messages; its forks live on. False if it is unknown."""
        return self._change("DELETE FROM sessions WHERE id = :id", id=session_id)

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Content | None,
        *,
        tool_calls: Sequence[dict[str, Any]] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        run_id: str | None = None,
        step: int | None = None,
    ) -> int:
        """Returns the message's id once it is committed; raises `UnknownSession`.

        A step of a run that is there already is left as it is, and has the id it had.
        """
        message = bind(
            session_id=session_id,
            role=role,
            content=to_json(content),
            tool_calls=to_json(list(tool_calls)) if tool_calls else None,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            run_id=run_id,
            step=step,
        )
        return self._database.write(
            lambda connection: _append(connection, {**message, "now": self._clock()})
        )

    def get_messages(self, session_id: str) -> list[dict[str, Any]]:
        """The session's messages in order, each with its `id` and `timestamp`."""
        statement = (
            "SELECT id, role, content, timestamp, tool_calls, tool_call_id, tool_name, run_id, step"
            " FROM messages WHERE session_id = :id ORDER BY id"
        )
        return [_message(row) for row in self._rows(statement, id=session_id)]

    def get_messages_as_conversation(
        self, session_id: str, *, without_run: str | None = None
    ) -> list[Message]:
        """The session's messages in order, in the chat-completions shape and nothing else.

        `without_run` leaves out what one run has said so far.
        """
        statement = (
            "SELECT role, content, tool_calls, tool_call_id"
            " FROM messages WHERE session_id = :id AND run_id IS NOT :run ORDER BY id"
        )
        rows = self._rows(statement, id=session_id, run=without_run or _NO_RUN)
        return [_message(row) for row in rows]

    def fork_session(self, session_id: str, new_id: str, *, title: str | None = None) -> str:
        """Copy a session and its messages under `new_id`, and end the source as "branched".

        Without a title the fork has the title of its source. Raises `UnknownSession` or
        `SessionExists`, and then nothing has changed.
        """
        self._database.write(
            lambda connection: _fork(connection, session_id, new_id, title, self._clock())
        )
        return new_id

    def close(self) -> None:
        """Idempotent; any use afterwards raises `StoreClosed`."""
        self._database.close()

    def _change(self, statement: str, **values: str | None) -> bool:
        """Run one statement, with the time as `:now`; True if it changed something."""
        return self._database.write(
            lambda connection: (
                connection.execute(statement, bind(**values, now=self._clock())).rowcount > 0
            )
        )

    def _rows(self, statement: str, **values: str | int) -> list[dict[str, Any]]:
        rows = self._database.read(
            lambda connection: connection.execute(statement, bind(**values)).fetchall()
        )
        return [plain(row) for row in rows]


def _append(connection: sqlite3.Connection, message: dict[str, Any]) -> int:
    if message["run_id"] is not None:
        found = connection.execute(_FIND_STEP, message).fetchone()
        if found is not None:
            return int(found["id"])
    _count_message(connection, message)
    appended = connection.execute(_APPEND, message)
    assert appended.lastrowid is not None
    return appended.lastrowid


def _count_message(connection: sqlite3.Connection, message: dict[str, Any]) -> None:
    counted = connection.execute(
        "UPDATE sessions SET message_count = message_count + 1, updated_at = :now"
        " WHERE id = :session_id",
        message,
    )
    if not counted.rowcount:
        raise UnknownSession(from_stored(message["session_id"]))


def _fork(
    connection: sqlite3.Connection, session_id: str, new_id: str, title: str | None, now: float
) -> None:
    if connection.execute("SELECT 1 FROM sessions WHERE id = :id", bind(id=new_id)).fetchone():
        raise SessionExists(new_id)
    if not _end(connection, session_id, "branched", now):
        raise UnknownSession(session_id)
    connection.execute(_FORK, bind(id=session_id, new_id=new_id, title=title, now=now))
    copied = connection.execute(_COPY_MESSAGES, bind(id=session_id, new_id=new_id))
    connection.execute(
        "UPDATE sessions SET message_count = :count WHERE id = :id",
        bind(id=new_id, count=copied.rowcount),
    )


def _end(connection: sqlite3.Connection, session_id: str, reason: str, now: float) -> bool:
    ended = connection.execute(
        "UPDATE sessions SET end_reason = :reason, ended_at = :now, updated_at = :now"
        " WHERE id = :id",
        bind(id=session_id, reason=reason, now=now),
    )
    return ended.rowcount > 0


def _message(row: dict[str, Any]) -> dict[str, Any]:
    """The columns that a message has, with content and tool calls read from JSON."""
    message = {name: value for name, value in row.items() if value is not None}
    for name in ("content", "tool_calls"):
        if name in message:
            message[name] = from_json(message[name])
    return message


def _in_range(number: int) -> int:
    """SQLite takes a negative limit for none, and refuses numbers of more than 64 bits."""
    return min(max(number, 0), _LARGEST_INTEGER)
