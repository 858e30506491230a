"""What a session is called when nobody gave it a title: the beginning of what its user said."""

from __future__ import annotations

import sqlite3

from hermes.core.messages import Content, text_of
from hermes.store.encoding import bind, from_json

LONGEST = 60

_FIRST_SAID = """
    SELECT session_id, content FROM messages
    WHERE id IN (SELECT min(id) FROM messages WHERE role = 'user' GROUP BY session_id)
"""


def auto_title(role: str, content: Content | None) -> str | None:
    """The first line with something in it, cut where it is long; None if this is no title."""
    if role != "user":
        return None
    lines = (" ".join(line.split()) for line in text_of(content).splitlines())
    first = next(filter(None, lines), None)
    if first is None or len(first) <= LONGEST:
        return first
    return first[: LONGEST - 1].rstrip() + "…"


def title_old_sessions(connection: sqlite3.Connection) -> None:
    """For sessions of the time before there were such titles."""
    for session_id, content in connection.execute(_FIRST_SAID).fetchall():
        connection.execute(
            "UPDATE sessions SET auto_title = :title WHERE id = :id",
            bind(id=session_id, title=auto_title("user", from_json(content))),
        )
