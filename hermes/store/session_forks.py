"""A session copied into a new one, up to its end or up to one of its messages.

Functions of a connection; the caller's transaction is theirs too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Message, tool, tool_calls_of
from hermes.core.sessions import HistorySummary, MessageQuery
from hermes.store import session_messages
from hermes.store.encoding import bind
from hermes.store.errors import SessionExists, UnknownMessage, UnknownSession
from hermes.store.session_titles import auto_title

CUT_OFF = "This conversation branched off before the tool reported back."
"""The answer to a call whose own answer the branch does not have."""

_COPY_SESSION = """
    INSERT INTO sessions (id, source, model, title, parent_session_id, started_at, updated_at)
    SELECT :new_id, source, model, coalesce(:title, title), id, :now, :now
    FROM sessions WHERE id = :id
"""

_COPY_MESSAGES = """
    INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp)
    SELECT :new_id, role, content, tool_calls, tool_call_id, tool_name, timestamp
    FROM messages WHERE session_id = :id AND id <= :up_to ORDER BY id
"""

_END = """
    UPDATE sessions SET end_reason = :reason, ended_at = :now, updated_at = :now WHERE id = :id
"""


def end(connection: sqlite3.Connection, session_id: str, reason: str, now: float) -> bool:
    return connection.execute(_END, bind(id=session_id, reason=reason, now=now)).rowcount > 0


def copy_session(
    connection: sqlite3.Connection, session_id: str, new_id: str, title: str | None, now: float
) -> None:
    """A new session without messages; the source ends as "branched"."""
    if connection.execute("SELECT 1 FROM sessions WHERE id = :id", bind(id=new_id)).fetchone():
        raise SessionExists(new_id)
    if not end(connection, session_id, "branched", now):
        raise UnknownSession(session_id)
    connection.execute(_COPY_SESSION, bind(id=session_id, new_id=new_id, title=title, now=now))


def copy_messages(
    connection: sqlite3.Connection, session_id: str, new_id: str, up_to: int | None
) -> list[dict[str, Any]]:
    """The copies, which belong to no run; the new session counts them and is called after them."""
    if up_to is not None and not session_messages.exists(connection, session_id, up_to):
        raise UnknownMessage(session_id, up_to)
    last = session_messages.LARGEST_INTEGER if up_to is None else up_to
    connection.execute(_COPY_MESSAGES, bind(id=session_id, new_id=new_id, up_to=last))
    copies = session_messages.page(connection, new_id, MessageQuery()).messages
    titles = (auto_title(message["role"], message.get("content")) for message in copies)
    connection.execute(
        "UPDATE sessions SET message_count = :count, auto_title = :title WHERE id = :id",
        bind(id=new_id, count=len(copies), title=next(filter(None, titles), None)),
    )
    return copies


def summary_of_copies(
    connection: sqlite3.Connection, session_id: str, copies: Sequence[dict[str, Any]]
) -> HistorySummary | None:
    """The source's summary as the fork's own; None when the fork does not go beyond it."""
    summary = session_messages.newest_summary(connection, session_id)
    if summary is None:
        return None
    [(count,)] = connection.execute(
        "SELECT count(*) FROM messages WHERE session_id = :id AND id <= :up_to",
        bind(id=session_id, up_to=summary.up_to),
    ).fetchall()
    return HistorySummary(copies[count - 1]["id"], summary.text) if count < len(copies) else None


def missing_answers(messages: Sequence[Message]) -> list[Message]:
    """Answers to the calls at the end of a branch that it has no answers to."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] != "tool":
            return [
                tool(str(call["id"]), str(call.get("function", {}).get("name", "")), CUT_OFF)
                for call in tool_calls_of(message)
                if str(call["id"]) not in answered
            ]
        answered.add(str(message.get("tool_call_id")))
    return []
