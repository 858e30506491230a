"""The rows of messages: adding them, and reading parts of them.

Functions of a connection; the caller's transaction is theirs too.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from hermes.core.messages import Message, summary_note
from hermes.core.sessions import HistorySummary, MessagePage, MessageQuery
from hermes.store.encoding import bind, from_json, from_stored, plain
from hermes.store.errors import UnknownSession

LARGEST_INTEGER = 2**63 - 1
_NO_RUN = ""
"""A run id that no message has, not even one that no run said."""

_INSERT = """
    INSERT INTO messages
        (session_id, role, content, tool_calls, tool_call_id, tool_name, run_id, step, timestamp)
    VALUES
        (:session_id, :role, :content, :tool_calls, :tool_call_id, :tool_name, :run_id, :step, :now)
"""

_FIND_STEP = """
    SELECT id FROM messages WHERE session_id = :session_id AND run_id = :run_id AND step = :step
"""

_COUNT = """
    UPDATE sessions SET message_count = message_count + 1, updated_at = :now,
        auto_title = coalesce(auto_title, :auto_title)
    WHERE id = :session_id
"""

_PAGE = """
    SELECT id, role, content, timestamp, tool_calls, tool_call_id, tool_name, run_id, step
    FROM messages WHERE session_id = :session_id AND id > :after AND id < :before
"""

_CONVERSATION = """
    SELECT role, content, tool_calls, tool_call_id FROM messages
    WHERE session_id = :session_id AND id > :after AND run_id IS NOT :run ORDER BY id
"""

_NEWEST_SUMMARY = """
    SELECT up_to, text FROM session_summaries WHERE session_id = :session_id
    ORDER BY up_to DESC LIMIT 1
"""

_SUMMARISE = """
    INSERT OR REPLACE INTO session_summaries (session_id, up_to, text, created_at)
    SELECT id, :up_to, :text, :now FROM sessions WHERE id = :session_id
"""


def append(connection: sqlite3.Connection, message: dict[str, Any]) -> tuple[int, bool]:
    """The message's id, and whether it is new; `message` has the stored form of every column."""
    if message["run_id"] is not None:
        found = connection.execute(_FIND_STEP, message).fetchone()
        if found is not None:
            return int(found["id"]), False
    if not connection.execute(_COUNT, message).rowcount:
        raise UnknownSession(from_stored(message["session_id"]))
    appended = connection.execute(_INSERT, message)
    assert appended.lastrowid is not None
    return appended.lastrowid, True


def page(connection: sqlite3.Connection, session_id: str, wanted: MessageQuery) -> MessagePage:
    """The messages in between, each with its `id` and `timestamp`."""
    rows = connection.execute(
        _PAGE + ("ORDER BY id DESC" if wanted.newest_first else "ORDER BY id") + " LIMIT :limit",
        bind(
            session_id=session_id,
            after=0 if wanted.after is None else in_range(wanted.after),
            before=LARGEST_INTEGER if wanted.before is None else in_range(wanted.before),
            # One more tells whether there are more.
            limit=-1 if wanted.limit is None else in_range(wanted.limit + 1),
        ),
    ).fetchall()
    messages = [_message(row) for row in rows[: wanted.limit]]
    return MessagePage(messages, has_more=len(messages) < len(rows))


def exists(connection: sqlite3.Connection, session_id: str, message_id: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM messages WHERE id = :id AND session_id = :session_id",
        bind(id=in_range(message_id), session_id=session_id),
    )
    return found.fetchone() is not None


def count_after(connection: sqlite3.Connection, session_id: str, after: int) -> int:
    [(count,)] = connection.execute(
        "SELECT count(*) FROM messages WHERE session_id = :session_id AND id > :after",
        bind(session_id=session_id, after=in_range(after)),
    ).fetchall()
    return int(count)


def bytes_after(connection: sqlite3.Connection, session_id: str, after: int) -> int:
    [(size,)] = connection.execute(
        """SELECT coalesce(sum(length(cast(content AS BLOB)) +
            coalesce(length(cast(tool_calls AS BLOB)), 0)), 0)
        FROM messages WHERE session_id = :session_id AND id > :after""",
        bind(session_id=session_id, after=in_range(after)),
    ).fetchall()
    return int(size)


def conversation(
    connection: sqlite3.Connection, session_id: str, without_run: str | None
) -> list[Message]:
    """In the chat-completions shape and nothing else. Reads nothing that was summarised."""
    summary = newest_summary(connection, session_id)
    rows = connection.execute(
        _CONVERSATION,
        bind(
            session_id=session_id,
            after=0 if summary is None else summary.up_to,
            run=without_run or _NO_RUN,
        ),
    ).fetchall()
    told = [] if summary is None else [summary_note(summary.text)]
    return [*told, *(_chat_message(row) for row in rows)]


def newest_summary(connection: sqlite3.Connection, session_id: str) -> HistorySummary | None:
    row = connection.execute(_NEWEST_SUMMARY, bind(session_id=session_id)).fetchone()
    return None if row is None else HistorySummary(row["up_to"], from_stored(row["text"]))


def summarise(
    connection: sqlite3.Connection, session_id: str, summary: HistorySummary, now: float
) -> bool:
    """False when there is no such session."""
    values = bind(session_id=session_id, up_to=summary.up_to, text=summary.text, now=now)
    return connection.execute(_SUMMARISE, values).rowcount > 0


def in_range(number: int) -> int:
    """SQLite takes a negative limit for none, and refuses numbers of more than 64 bits."""
    return min(max(number, 0), LARGEST_INTEGER)


def _chat_message(row: sqlite3.Row) -> Message:
    """Read for every turn, and many at once: nothing is looked up by its name."""
    role, content, tool_calls, tool_call_id = row
    message: Message = {"role": from_stored(role), "content": from_json(content)}
    if tool_calls is not None:
        message["tool_calls"] = from_json(tool_calls)
    if tool_call_id is not None:
        message["tool_call_id"] = from_stored(tool_call_id)
    return message


def _message(row: sqlite3.Row) -> dict[str, Any]:
    """The columns that a message has, with content and tool calls read from JSON."""
    message = {name: value for name, value in plain(row).items() if value is not None}
    for name in ("content", "tool_calls"):
        if name in message:
            message[name] = from_json(message[name])
    return message
