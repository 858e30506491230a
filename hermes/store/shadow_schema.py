"""The tables of `shadow.db`. Paths are bytes, as the file system has them."""

from __future__ import annotations

from hermes.store.migrations import Migration

SHADOW_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE contents (
            number INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            stored_bytes INTEGER NOT NULL,
            is_packed INTEGER NOT NULL,     -- with zlib
            content BLOB NOT NULL           -- last: a row is measured without reading it
        )
        """,
        """
        CREATE TABLE workspaces (
            number INTEGER PRIMARY KEY,
            root BLOB NOT NULL UNIQUE,
            seen_at REAL NOT NULL
        )
        """,
        """
        CREATE TABLE files (                -- workspaces as they were seen last
            workspace INTEGER NOT NULL REFERENCES workspaces (number) ON DELETE CASCADE,
            path BLOB NOT NULL,
            mode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            ctime_ns INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            read_at_ns INTEGER NOT NULL,
            digest TEXT,
            PRIMARY KEY (workspace, path)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX files_by_digest ON files (digest)",
        """
        CREATE TABLE openings (             -- deeds under way
            id TEXT PRIMARY KEY,
            run_id TEXT,
            call_id TEXT NOT NULL,
            root BLOB NOT NULL,
            process INTEGER NOT NULL,
            before TEXT                     -- JSON; NULL: the whole workspace
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE deeds (                -- changes that are done
            number INTEGER PRIMARY KEY,
            run_id TEXT,
            call_id TEXT NOT NULL,
            root BLOB NOT NULL,
            path BLOB NOT NULL,
            change TEXT NOT NULL,           -- JSON
            before_digest TEXT,
            after_digest TEXT,
            at REAL NOT NULL
        )
        """,
        "CREATE INDEX deeds_by_run ON deeds (run_id)",
        "CREATE INDEX deeds_by_path ON deeds (path)",
        "CREATE INDEX deeds_by_before ON deeds (before_digest)",
        "CREATE INDEX deeds_by_after ON deeds (after_digest)",
        "CREATE INDEX deeds_by_age ON deeds (at)",
        "CREATE TABLE undone (run_id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
    ),
)
