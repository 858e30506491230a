"""`SqliteRunStore`: the store of runs on SQLite, as `hermes.core.run_ports` describes it.

Every rule is a function of a connection, in the `run_*` files beside this one; here stands who
calls them in which transaction, and as which worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from hermes.core.approvals import Decision, Grant
from hermes.core.events import TurnEnded, TurnPaused
from hermes.core.run_ports import KeptAnswer, NewEvent, Waiting
from hermes.core.runs import (
    LoggedEvent,
    NewRun,
    Run,
    RunPage,
    RunQuery,
    RunRetention,
    RunStatus,
    Submitted,
)
from hermes.store import (
    idempotency,
    run_approvals,
    run_endings,
    run_events,
    run_retention,
    run_rows,
    run_submission,
    run_workers,
)
from hermes.store.database import Database
from hermes.store.encoding import to_json
from hermes.store.run_schema import RUN_MIGRATIONS


def open_runs(path: Path | None) -> Database:
    """The database of a run store. What it says is committed survives a power cut."""
    return Database(path, RUN_MIGRATIONS, synchronous="FULL", can_shrink=True)


class SqliteRunStore:
    """Several of them, in one process or many, may work on one database. `close` closes it.

    `is_alone`: the caller knows that no other process uses the database, by the lock of the home
    folder; so `register` declares all workers before it dead, and their runs are orphans at once.
    Otherwise they are when their lease is over.
    """

    def __init__(
        self,
        database: Database,
        *,
        retention: RunRetention | None = None,
        is_alone: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._retention = retention or RunRetention()
        self._is_alone = is_alone
        self._now = now
        self._worker: str | None = None
        self._lease = 0.0

    # --- asking for runs ----------------------------------------------------------------------

    def submit(self, new: NewRun) -> Submitted:
        now, key = self._now(), self._key_of(new)
        stored = to_json(dict(new.input))
        return self._database.write(
            lambda connection: run_submission.submit_run(connection, new, stored, key, now)
        )

    def is_repeated(self, new: NewRun) -> bool:
        key = self._key_of(new)
        return key is not None and self._database.read(
            lambda connection: idempotency.run_of_key(connection, key) is not None
        )

    def get(self, run_id: str, *, owner: str | None = None) -> Run | None:
        return self._database.read(lambda connection: run_rows.get_run(connection, run_id, owner))

    def find(self, resource_id: str, *, owner: str | None = None) -> Run | None:
        return self._database.read(
            lambda connection: run_rows.find_run(connection, resource_id, owner)
        )

    def add_resource(self, run_id: str, resource_id: str) -> None:
        self._database.write(
            lambda connection: run_rows.add_resource(connection, run_id, resource_id)
        )

    def unfinished(self, status: RunStatus) -> list[Run]:
        return self._database.read(lambda connection: run_rows.unfinished_runs(connection, status))

    def page(self, query: RunQuery) -> RunPage | None:
        return self._database.read(lambda connection: run_rows.run_page(connection, query))

    def active(self, session_id: str) -> Run | None:
        return self._database.read(lambda connection: run_rows.active_run(connection, session_id))

    def place(self, run_id: str) -> int:
        return self._database.read(lambda connection: run_rows.place_of(connection, run_id))

    def request_stop(self, run_id: str) -> Run | None:
        now = self._now()
        return self._database.write(
            lambda connection: run_endings.stop_run(connection, run_id, now)
        )

    def delete_session(self, session_id: str) -> int:
        return run_retention.remove_session(self._database, session_id)

    # --- the log ------------------------------------------------------------------------------

    def append(self, events: Sequence[NewEvent]) -> Future[None]:
        worker = self._registered()
        return self._database.submit(
            lambda connection: run_events.append_events(connection, events, worker)
        )

    def read(self, run_id: str, *, after: int = 0, limit: int = 500) -> list[LoggedEvent]:
        return self._database.read(
            lambda connection: run_events.read_events(connection, run_id, after, limit)
        )

    def read_kinds(self, run_id: str, kinds: Collection[str]) -> list[LoggedEvent]:
        return self._database.read(
            lambda connection: run_events.read_kinds(connection, run_id, kinds)
        )

    # --- doing the work -----------------------------------------------------------------------

    def register(self, worker: str, *, lease_seconds: float) -> None:
        now = self._now()
        self._database.write(
            lambda connection: run_workers.register(
                connection, worker, now, lease_seconds, is_alone=self._is_alone
            )
        )
        self._worker, self._lease = worker, lease_seconds

    def heartbeat(self) -> list[str]:
        worker, expires_at = self._registered(), self._now() + self._lease
        return self._database.write(
            lambda connection: run_workers.extend_lease(connection, worker, expires_at)
        )

    def claim(self, limit: int) -> list[Run]:
        worker, now = self._registered(), self._now()
        return self._database.write(
            lambda connection: run_workers.claim_next(connection, worker, now, limit)
        )

    def take_up(self, run_id: str, *, from_status: RunStatus = RunStatus.QUEUED) -> Run | None:
        worker, now = self._registered(), self._now()
        return self._database.write(
            lambda connection: run_workers.take_up(connection, run_id, from_status, worker, now)
        )

    def set_input(self, run_id: str, value: Mapping[str, Any]) -> None:
        worker, stored = self._registered(), to_json(dict(value))
        self._database.write(
            lambda connection: run_endings.set_input(connection, run_id, stored, worker)
        )

    def finish(self, status: RunStatus, last: NewEvent) -> Future[None]:
        if not status.is_final or not isinstance(last.event, TurnEnded):
            raise ValueError("A run finishes in a final state and with a TurnEnded")
        worker, now = self._registered(), self._now()
        return self._database.submit(
            lambda connection: run_endings.finish_run(connection, status, last, worker, now)
        )

    def pause(self, last: NewEvent) -> Future[None]:
        if not isinstance(last.event, TurnPaused):
            raise ValueError("A run pauses with a TurnPaused")
        worker, result = self._registered(), last.event.result
        return self._database.submit(
            lambda connection: run_endings.pause_run(connection, last, result, worker)
        )

    def orphans(self) -> list[Run]:
        worker, now = self._registered(), self._now()
        return self._database.write(
            lambda connection: run_workers.take_orphans(connection, worker, now, self._lease)
        )

    def requeue(self, run_id: str) -> None:
        worker = self._registered()
        self._database.write(lambda connection: run_workers.requeue(connection, run_id, worker))

    # --- approvals ----------------------------------------------------------------------------

    def waiting(self, run_id: str) -> Waiting | None:
        return self._database.read(lambda connection: run_approvals.waiting_run(connection, run_id))

    def find_waiting(self, *, code: str, owner: str) -> Waiting | None:
        return self._database.read(
            lambda connection: run_approvals.find_by_code(connection, code, owner)
        )

    def expired_approvals(self, now: float) -> list[Waiting]:
        return self._database.read(lambda connection: run_approvals.stuck_runs(connection, now))

    def decide(self, approval_id: str, decision: Decision, *, by: str) -> bool:
        now = self._now()
        return self._database.write(
            lambda connection: run_approvals.decide(connection, approval_id, decision, by, now)
        )

    def decisions(self, run_id: str) -> dict[str, Decision]:
        return self._database.read(
            lambda connection: run_approvals.decisions_of(connection, run_id)
        )

    def grants(self, owner: str, session_id: str | None) -> tuple[Grant, ...]:
        return self._database.read(
            lambda connection: run_approvals.grants_of(connection, owner, session_id)
        )

    # --- answers that are no runs -------------------------------------------------------------

    def kept_answer(self, owner: str, scope: str, key: str, fingerprint: str) -> KeptAnswer | None:
        wanted = self._key(owner, scope, key, fingerprint)
        return self._database.read(lambda connection: idempotency.find_answer(connection, wanted))

    def keep_answer(
        self, owner: str, scope: str, key: str, fingerprint: str, answer: KeptAnswer
    ) -> None:
        wanted = self._key(owner, scope, key, fingerprint)
        self._database.write(lambda connection: idempotency.keep_answer(connection, wanted, answer))

    def forget_key(self, run_id: str) -> None:
        self._database.write(lambda connection: idempotency.forget_key(connection, run_id))

    # --- housekeeping -------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        run_retention.sweep(self._database, self._retention, now)

    def close(self) -> None:
        self._database.close()

    def _registered(self) -> str:
        if self._worker is None:
            raise RuntimeError("Register a worker before working on runs")
        return self._worker

    def _key_of(self, new: NewRun) -> idempotency.RequestKey | None:
        asked = new.idempotency
        if asked is None:
            return None
        return self._key(new.owner, asked.scope, asked.key, asked.fingerprint)

    def _key(self, owner: str, scope: str, key: str, fingerprint: str) -> idempotency.RequestKey:
        now = self._now()
        return idempotency.RequestKey(
            owner=owner,
            scope=scope,
            key=key,
            fingerprint=fingerprint,
            now=now,
            cutoff=now - self._retention.keep_keys_seconds,
        )
