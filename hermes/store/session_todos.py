"""The todo list of a session. Functions of a connection; the caller's transaction is theirs too."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hermes.core.todos import Todo, TodoStatus
from hermes.store.encoding import bind, from_json, to_json
from hermes.store.errors import UnknownSession

_PUT = """
    INSERT OR REPLACE INTO session_todos (session_id, todos)
    SELECT id, :todos FROM sessions WHERE id = :session_id
"""


def get(connection: sqlite3.Connection, session_id: str) -> tuple[Todo, ...]:
    row = connection.execute(
        "SELECT todos FROM session_todos WHERE session_id = :session_id",
        bind(session_id=session_id),
    ).fetchone()
    if row is None:
        return ()
    return tuple(Todo(task, TodoStatus(status)) for task, status in from_json(row["todos"]))


def put(connection: sqlite3.Connection, session_id: str, todos: Sequence[Todo]) -> None:
    written = to_json([[todo.task, todo.status.value] for todo in todos])
    if not connection.execute(_PUT, bind(session_id=session_id, todos=written)).rowcount:
        raise UnknownSession(session_id)
