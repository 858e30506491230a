"""The tables of `runs.db`. What states there are is said here a second time, for the indexes."""

from __future__ import annotations

from hermes.store.migrations import Migration

# What is large and seldom needed (`run_inputs`) stands apart from what changes often (`runs`):
# SQLite writes a row as a whole. The number of a run's newest event is not kept at all: the
# index of its log knows it.
RUN_MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE workers (
            id TEXT PRIMARY KEY,
            state TEXT NOT NULL CHECK (state IN ('alive', 'dead')),
            started_at REAL NOT NULL,
            expires_at REAL NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY,     -- in order of submission; never shown
            id TEXT NOT NULL UNIQUE,
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            session_id TEXT,
            resource_id TEXT,
            status TEXT NOT NULL,
            rank INTEGER NOT NULL,          -- its place among the runs of its session
            attempt INTEGER NOT NULL DEFAULT 0,
            worker_id TEXT,                 -- has it while it is running, had it last afterwards
            is_stop_requested INTEGER NOT NULL DEFAULT 0,
            disconnect REAL,                -- seconds of grace; NULL: it is never stopped
            timeout REAL,
            metadata TEXT NOT NULL,         -- JSON
            created_at REAL NOT NULL,
            started_at REAL,
            finished_at REAL,               -- NULL: not over
            output TEXT NOT NULL DEFAULT '',
            error TEXT,                     -- JSON
            usage TEXT NOT NULL DEFAULT '{}',
            is_thinned INTEGER NOT NULL DEFAULT 0,      -- deltas were looked for and deleted
            has_all_events INTEGER NOT NULL DEFAULT 1
        )
        """,
        """
        CREATE UNIQUE INDEX runs_one_active ON runs (session_id)
            WHERE session_id IS NOT NULL
            AND status IN ('running', 'stopping', 'waiting_for_approval')
        """,
        "CREATE INDEX runs_queue ON runs (number) WHERE status = 'queued'",
        "CREATE INDEX runs_waiting ON runs (number) WHERE status = 'waiting_for_approval'",
        "CREATE INDEX runs_of_session ON runs (session_id, rank) WHERE finished_at IS NULL",
        """
        CREATE INDEX runs_at_work ON runs (number, worker_id)
            WHERE status IN ('running', 'stopping')
        """,
        "CREATE INDEX runs_by_session ON runs (session_id, number)",
        "CREATE INDEX runs_by_owner ON runs (owner, number)",
        "CREATE INDEX runs_by_resource ON runs (resource_id)",
        "CREATE INDEX runs_by_age ON runs (finished_at) WHERE finished_at IS NOT NULL",
        """
        CREATE INDEX runs_to_thin ON runs (finished_at)
            WHERE finished_at IS NOT NULL AND is_thinned = 0
        """,
        """
        CREATE TABLE run_inputs (
            run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
            input TEXT NOT NULL             -- JSON
        )
        """,
        """
        CREATE TABLE run_resources (        -- made by later parts of a run; the first is in `runs`
            resource_id TEXT PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE
        ) WITHOUT ROWID
        """,
        "CREATE INDEX run_resources_of_run ON run_resources (run)",
        """
        CREATE TABLE run_events (
            run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            type TEXT NOT NULL,
            at REAL NOT NULL,
            data TEXT NOT NULL,             -- JSON
            PRIMARY KEY (run, seq)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE approvals (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
            code TEXT NOT NULL,
            call_id TEXT NOT NULL,
            expires_at REAL NOT NULL,
            request TEXT NOT NULL,          -- JSON
            decision TEXT,
            decided_by TEXT,
            decided_at REAL
        )
        """,
        "CREATE INDEX approvals_of_run ON approvals (run)",
        "CREATE INDEX approvals_by_code ON approvals (code)",
        """
        CREATE TABLE grants (
            number INTEGER PRIMARY KEY,
            owner TEXT NOT NULL,
            session_id TEXT,                -- NULL: in every session of the owner
            tool TEXT NOT NULL,
            shown TEXT NOT NULL,
            created_at REAL NOT NULL
        )
        """,
        "CREATE INDEX grants_of_owner ON grants (owner, session_id)",
        "CREATE INDEX grants_of_session ON grants (session_id)",
        """
        CREATE TABLE idempotency (
            owner TEXT NOT NULL,
            scope TEXT NOT NULL,
            key TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            created_at REAL NOT NULL,
            run INTEGER REFERENCES runs (number) ON DELETE CASCADE,
            status INTEGER,                 -- of an answer that is no run, like what follows
            headers TEXT,                   -- JSON
            body BLOB,
            PRIMARY KEY (owner, scope, key)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX idempotency_by_age ON idempotency (created_at)",
        "CREATE INDEX idempotency_of_run ON idempotency (run)",
    ),
)
