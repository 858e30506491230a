"""The tables of `state.db`: sessions and their messages, version by version."""

from __future__ import annotations

from hermes.store.migrations import Migration
from hermes.store.session_titles import title_old_sessions

MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE sessions (
            number INTEGER PRIMARY KEY,         -- in order of creation; never shown
            id TEXT NOT NULL UNIQUE,
            source TEXT NOT NULL,
            model TEXT,
            title TEXT,
            parent_session_id TEXT,             -- kept when the parent is deleted
            end_reason TEXT,
            started_at REAL NOT NULL,
            ended_at REAL,
            updated_at REAL NOT NULL,           -- the last change of any kind
            message_count INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX sessions_by_activity ON sessions (updated_at, number)",
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            role TEXT NOT NULL,
            content TEXT NOT NULL,              -- JSON: a text, a list of parts or null
            tool_calls TEXT,                    -- JSON
            tool_call_id TEXT,
            tool_name TEXT,
            timestamp REAL NOT NULL
        )
        """,
        "CREATE INDEX messages_by_session ON messages (session_id)",
    ),
    (
        # Which run said it, and as which of its steps.
        "ALTER TABLE messages ADD COLUMN run_id TEXT",
        "ALTER TABLE messages ADD COLUMN step INTEGER",
        """
        CREATE UNIQUE INDEX messages_by_run ON messages (session_id, run_id, step)
        WHERE run_id IS NOT NULL
        """,
    ),
    (
        # The beginning of what the user said first.
        "ALTER TABLE sessions ADD COLUMN auto_title TEXT",
        title_old_sessions,
        """
        CREATE TABLE session_summaries (
            session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            up_to INTEGER NOT NULL,             -- the id of the last message it stands for
            text TEXT NOT NULL,
            created_at REAL NOT NULL,
            PRIMARY KEY (session_id, up_to)
        ) WITHOUT ROWID
        """,
        # The index itself is made beside the migrations: some SQLite cannot (`session_index`).
        "CREATE TABLE search_state (is_current INTEGER NOT NULL)",
        "INSERT INTO search_state VALUES (0)",
    ),
    (
        """
        CREATE TABLE session_todos (
            session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
            todos TEXT NOT NULL                 -- JSON: a list of tasks and what became of them
        ) WITHOUT ROWID
        """,
    ),
)
