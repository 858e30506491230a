"""Sessions and their messages in one SQLite file. Times are seconds since 1970, as floats.

It stores what it is told and knows nothing of agents, requests or models.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hermes.core.messages import Content, Message
from hermes.core.sessions import (
    GivenMessage,
    HistorySummary,
    MessagePage,
    MessageQuery,
    SearchPage,
    SessionHead,
)
from hermes.core.todos import Todo
from hermes.store import (
    leftovers,
    session_forks,
    session_index,
    session_messages,
    session_todos,
)
from hermes.store.database import Database
from hermes.store.encoding import bind, plain, to_json
from hermes.store.errors import StoreUnusable
from hermes.store.session_messages import in_range
from hermes.store.session_schema import MIGRATIONS
from hermes.store.session_titles import auto_title

_SESSION = (
    "SELECT id, source, model, title, auto_title, parent_session_id, end_reason,"
    " started_at, ended_at, updated_at, message_count FROM sessions"
)

_IMPORT = """
    INSERT INTO sessions (id, source, model, title, parent_session_id, end_reason,
        started_at, ended_at, updated_at)
    VALUES (:id, :source, :model, :title, :parent, :end_reason, :started_at, :ended_at, :now)
    ON CONFLICT (id) DO NOTHING
"""

log = logging.getLogger(__name__)


class SessionDB:
    """Every session of one home folder. Any thread may call; every call may block."""

    def __init__(
        self, path: Path | str, *, clock: Callable[[], float] = time.time, can_search: bool = True
    ) -> None:
        """`can_search=False` does without, as it is done where SQLite has no FTS5."""
        self._clock = clock
        self._database = Database(Path(path), MIGRATIONS)
        self._has_index = can_search and self._database.read(session_index.has_fts5)
        try:
            self._settle_index()
            if self._database.read(leftovers.are_marked):
                self._remove_leftovers()
        except BaseException:
            self._database.close()
            raise

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
        return self._rows(statement, limit=in_range(limit), offset=in_range(offset))

    def find_ids(self, beginning: str) -> list[str]:
        """The ids that begin like this, the most recently changed first."""
        statement = (
            "SELECT id FROM sessions WHERE substr(id, 1, length(:beginning)) = :beginning"
            " ORDER BY updated_at DESC, number DESC"
        )
        return [str(row["id"]) for row in self._rows(statement, beginning=beginning)]

    def count_sessions(self) -> int:
        [row] = self._rows("SELECT count(*) AS count FROM sessions")
        return int(row["count"])

    def set_session_title(self, session_id: str, title: str | None) -> bool:
        """False if there is no such session."""
        statement = "UPDATE sessions SET title = :title, updated_at = :now WHERE id = :id"
        values = bind(id=session_id, title=title)

        def job(connection: sqlite3.Connection) -> bool:
            changed = connection.execute(statement, {**values, "now": self._clock()}).rowcount > 0
            self._index_title(connection, session_id)
            return changed

        return self._database.write(job)

    def end_session(self, session_id: str, reason: str) -> bool:
        """Note that and why the session ended; False if there is no such session."""
        return self._database.write(
            lambda connection: session_forks.end(connection, session_id, reason, self._clock())
        )

    def delete_session(self, session_id: str) -> bool:
        """Delete a session and its messages; its forks live on. False if it is unknown."""
        return self.delete_sessions([session_id]) > 0

    def delete_sessions(self, session_ids: Sequence[str]) -> int:
        """Delete sessions, down to the last byte in the file; how many there were."""

        def job(connection: sqlite3.Connection) -> int:
            deleted = sum(self._delete(connection, session_id) for session_id in session_ids)
            if deleted:
                leftovers.mark(connection)
            return deleted

        deleted = self._database.write(job)
        if deleted:
            self._remove_leftovers()
        return deleted

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
        message = _row(
            session_id,
            GivenMessage(
                role=role,
                content=content,
                timestamp=0,
                tool_calls=tool_calls,
                tool_call_id=tool_call_id,
                tool_name=tool_name,
            ),
        ) | bind(run_id=run_id, step=step)
        return self._database.write(
            lambda connection: self._append(
                connection, message | {"now": self._clock()}, role, content
            )
        )

    def get_messages(self, session_id: str) -> list[dict[str, Any]]:
        """The session's messages in order, each with its `id` and `timestamp`."""
        return self.page_messages(session_id, MessageQuery()).messages

    def page_messages(self, session_id: str, wanted: MessageQuery) -> MessagePage:
        """Like `get_messages`, but only a part of it."""
        return self._database.read(
            lambda connection: session_messages.page(connection, session_id, wanted)
        )

    def has_message(self, session_id: str, message_id: int) -> bool:
        return self._database.read(
            lambda connection: session_messages.exists(connection, session_id, message_id)
        )

    def count_bytes(self, session_id: str, *, after: int) -> int:
        """How large those messages are, as they are stored."""
        return self._database.read(
            lambda connection: session_messages.bytes_after(connection, session_id, after)
        )

    def count_messages(self, session_id: str, *, after: int) -> int:
        """How many there are behind the message with this id."""
        return self._database.read(
            lambda connection: session_messages.count_after(connection, session_id, after)
        )

    def get_messages_as_conversation(
        self, session_id: str, *, without_run: str | None = None
    ) -> list[Message]:
        """What a model is told of the session, in the chat-completions shape and nothing else.

        That is the newest summary, if there is one, and the messages behind it. `without_run`
        leaves out what one run has said so far.
        """
        return self._database.read(
            lambda connection: session_messages.conversation(connection, session_id, without_run)
        )

    def get_summary(self, session_id: str) -> HistorySummary | None:
        """The newest one."""
        return self._database.read(
            lambda connection: session_messages.newest_summary(connection, session_id)
        )

    def add_summary(self, session_id: str, summary: HistorySummary) -> bool:
        """Let `summary` stand for older messages from now on; False when the session is gone."""
        return self._database.write(
            lambda connection: session_messages.summarise(
                connection, session_id, summary, self._clock()
            )
        )

    def get_todos(self, session_id: str) -> tuple[Todo, ...]:
        """The list that the agent plans the session's work with."""
        return self._database.read(lambda connection: session_todos.get(connection, session_id))

    def set_todos(self, session_id: str, todos: Sequence[Todo]) -> None:
        """The whole list. Raises `UnknownSession`."""
        self._database.write(lambda connection: session_todos.put(connection, session_id, todos))

    def fork_session(
        self, session_id: str, new_id: str, *, title: str | None = None, up_to: int | None = None
    ) -> str:
        """Copy a session and its messages under `new_id`, and end the source as "branched".

        With `up_to`, the id of a message, that is the last one that is copied; a call that is open
        there is answered. Without a title the fork has the title of its source. Raises
        `UnknownSession`, `UnknownMessage` or `SessionExists`, and then nothing has changed.
        """

        def job(connection: sqlite3.Connection) -> None:
            now = self._clock()
            session_forks.copy_session(connection, session_id, new_id, title, now)
            copies = session_forks.copy_messages(connection, session_id, new_id, up_to)
            summary = session_forks.summary_of_copies(connection, session_id, copies)
            if summary is not None:
                session_messages.summarise(connection, new_id, summary, now)
            self._index_title(connection, new_id)
            for copied in copies:
                self._index(connection, copied["id"], copied["role"], copied.get("content"))
            for answer in session_forks.missing_answers(copies) if up_to is not None else ():
                given = GivenMessage(**_known(answer), timestamp=now)
                self._append(connection, _row(new_id, given), given.role, given.content)

        self._database.write(job)
        return new_id

    def import_session(
        self, session_id: str, head: SessionHead, messages: Sequence[GivenMessage]
    ) -> bool:
        """Keep a whole session as it was elsewhere; False when the id is taken."""
        session = bind(
            id=session_id,
            source=head.source,
            model=head.model,
            title=head.title,
            parent=head.parent_session_id,
            end_reason=head.end_reason,
            started_at=head.started_at,
            ended_at=head.ended_at,
        )
        rows = [_row(session_id, message) for message in messages]

        def job(connection: sqlite3.Connection) -> bool:
            now = self._clock()
            if not connection.execute(_IMPORT, session | {"now": now}).rowcount:
                return False
            self._index_title(connection, session_id)
            for row, message in zip(rows, messages, strict=True):
                self._append(connection, row, message.role, message.content)
            connection.execute(
                "UPDATE sessions SET updated_at = :now WHERE id = :id", bind(id=session_id, now=now)
            )
            return True

        return self._database.write(job)

    def search(self, query: str, *, limit: int, offset: int) -> SearchPage | None:
        """Messages and titles that have all the words, the best first; None without FTS5."""
        if not self._has_index:
            return None
        return self._database.read(
            lambda connection: session_index.search(
                connection, query, limit=in_range(limit), offset=in_range(offset)
            )
        )

    def close(self) -> None:
        """Idempotent; any use afterwards raises `StoreClosed`."""
        self._database.close()

    def _append(
        self,
        connection: sqlite3.Connection,
        row: dict[str, Any],
        role: str,
        content: Content | None,
    ) -> int:
        message_id, is_new = session_messages.append(connection, row)
        if is_new:
            self._index(connection, message_id, role, content)
        return message_id

    def _index(
        self, connection: sqlite3.Connection, message_id: int, role: str, content: Content | None
    ) -> None:
        if self._has_index:
            session_index.add_message(connection, message_id, role, content)

    def _index_title(self, connection: sqlite3.Connection, session_id: str) -> None:
        if self._has_index:
            session_index.set_title(connection, session_id)

    def _delete(self, connection: sqlite3.Connection, session_id: str) -> int:
        if self._has_index:
            session_index.forget_session(connection, session_id)
        return connection.execute(
            "DELETE FROM sessions WHERE id = :id", bind(id=session_id)
        ).rowcount

    def _remove_leftovers(self) -> None:
        """The sessions are gone already, so a failure is no error; the next time mends it."""

        def job(connection: sqlite3.Connection) -> bool:
            if self._has_index:
                session_index.drop_leftovers(connection)
            return leftovers.remove(connection)

        try:
            is_done = self._database.write_alone(job)
        except (StoreUnusable, sqlite3.Error):
            log.exception("deleted text is still in the file")
        else:
            if not is_done:
                log.warning("deleted text is still in the file: another process is reading it")

    def _settle_index(self) -> None:
        """Nothing is written where nothing has to be: looking at sessions must not wait."""
        is_current = self._database.read(session_index.is_current)
        if self._has_index and not is_current:
            self._database.write(session_index.make_anew)
        elif is_current and not self._has_index:
            self._database.write(session_index.note_gap)

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


def _row(session_id: str, message: GivenMessage) -> dict[str, Any]:
    """A message as its row will be, and the title that its session may get from it."""
    return bind(
        session_id=session_id,
        role=message.role,
        content=to_json(message.content),
        tool_calls=to_json(list(message.tool_calls)) if message.tool_calls else None,
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        run_id=None,
        step=None,
        auto_title=auto_title(message.role, message.content),
        now=message.timestamp,
    )


def _known(answer: Message) -> dict[str, Any]:
    return {name: answer[name] for name in ("role", "content", "tool_call_id", "tool_name")}
