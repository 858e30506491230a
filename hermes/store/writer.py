"""The one thread that changes a database. Jobs that wait together are committed together.

It knows nothing of files and schemas, and does not hold the `Database` it works for: a forgotten
database is collected, and its thread ends.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from hermes.core.errors import HermesError
from hermes.store.errors import StoreClosed
from hermes.store.sqlite import in_words

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_LARGEST_BATCH = 256

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """Work, and the future that is done when it is committed."""

    work: Work[Any]
    answer: Future[Any]

    def fail(self, error: BaseException) -> None:
        self.answer.set_exception(error)


@dataclass(frozen=True, slots=True)
class _SubmittedJob(_Job):
    """Work that perhaps nobody waits for, so its error is logged too, and in words at once."""

    place: str

    def fail(self, error: BaseException) -> None:
        if isinstance(error, HermesError):  # an answer of the house, meant for who waits
            logger.warning("A submitted write was refused: %s", type(error).__name__)
        else:
            logger.error("A submitted write failed", exc_info=error)
        self.answer.set_exception(in_words(error, self.place))


@dataclass(frozen=True, slots=True)
class _LoneJob(_Job):
    """Work that SQLite does outside of transactions only."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a job left behind when it raised; its changes are undone."""

    error: BaseException


class Writer:
    """Owns the writing connection. The thread starts with the first job and ends after `stop`."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self._connection = connection
        self._place = place
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def write(self, work: Work[T]) -> T:
        """Run `work`, return its result once that is committed; what it raises is raised here."""
        answer: Future[T] = Future()
        return self._wait_for(_Job(work, answer), answer)

    def write_alone(self, work: Work[T]) -> T:
        """Like `write`, but outside of any transaction: what `work` has done is not undone."""
        answer: Future[T] = Future()
        return self._wait_for(_LoneJob(work, answer), answer)

    def submit(self, work: Work[T]) -> Future[T]:
        """Have `work` run after everything that was asked before, without waiting for it.

        The future cannot be cancelled. Its callbacks run in the writer's thread: they must be
        quick.
        """
        answer: Future[T] = Future()
        answer.set_running_or_notify_cancel()
        self._enqueue(_SubmittedJob(work, answer, self._place))
        return answer

    def stop(self, *, wait: bool) -> None:
        """Take no more jobs, finish those that were taken, close the connection. Idempotent."""
        with self._lock:
            first_time, self._stopped = not self._stopped, True
            thread = self._thread
            if first_time and thread is not None:
                self._jobs.put(None)
        if thread is None:
            self._close()
        elif wait and thread is not threading.current_thread():
            thread.join()

    def _wait_for(self, job: _Job, answer: Future[T]) -> T:
        if threading.current_thread() is self._thread:
            raise RuntimeError("A job must use the connection it was given, not its database")
        self._enqueue(job)
        return answer.result()

    def _enqueue(self, job: _Job) -> None:
        # The lock keeps jobs from slipping in behind the end mark, where nobody answers them.
        with self._lock:
            if self._stopped:
                raise StoreClosed(self._place)
            if self._thread is None:
                self._thread = self._start()
            self._jobs.put(job)

    def _start(self) -> threading.Thread:
        name = f"writer of {self._place}"
        thread = threading.Thread(target=self._serve, name=name, daemon=True)
        thread.start()
        return thread

    def _serve(self) -> None:
        # Nothing of a batch may stay in this frame while it waits: a job often holds the database.
        while self._serve_batch():
            pass
        self._close()

    def _serve_batch(self) -> bool:
        """Wait for jobs and commit what is there; False after the end mark."""
        job = self._jobs.get()
        if job is None:
            return False
        batch = [job, *self._waiting(_LARGEST_BATCH - 1)]
        goes_on = batch[-1] is not None
        jobs = [job for job in batch if job is not None]
        for are_alone, some in groupby(jobs, key=lambda job: isinstance(job, _LoneJob)):
            if are_alone:
                self._run_alone(some)
            else:
                self._commit(list(some))
        return goes_on

    def _waiting(self, limit: int) -> Iterator[_Job | None]:
        """The jobs that are there already, up to and including the end mark."""
        for _ in range(limit):
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return
            yield job
            if job is None:
                return

    def _commit(self, batch: list[_Job]) -> None:
        """Run the jobs in one transaction; when that fails as a whole, each in its own."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            for job in batch:
                job.fail(error)
            return
        try:
            outcomes = self._outcomes(batch)
            self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - a job's own code; its caller gets the error
            self._connection.rollback()
            self._commit_one_by_one(batch, error)
            return
        for job, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, _Failed):
                job.fail(outcome.error)
            else:
                job.answer.set_result(outcome)

    def _outcomes(self, batch: list[_Job]) -> list[Any]:
        if len(batch) == 1:  # nobody else's changes to spare when it fails
            return [batch[0].work(self._connection)]
        return [self._run(job) for job in batch]

    def _run_alone(self, jobs: Iterator[_Job]) -> None:
        for job in jobs:
            try:
                job.answer.set_result(job.work(self._connection))
            except BaseException as error:  # noqa: BLE001 - a job's own code; its caller gets it
                job.fail(error)

    def _commit_one_by_one(self, batch: list[_Job], error: BaseException) -> None:
        if len(batch) == 1:
            batch[0].fail(error)
            return
        for job in batch:
            self._commit([job])

    def _run(self, job: _Job) -> Any:
        """The job's result or `_Failed`; raises when the job took the whole transaction down."""
        self._connection.execute("SAVEPOINT job")
        try:
            outcome = job.work(self._connection)
        except BaseException as error:
            # A full disk, for one, makes SQLite roll back everything.
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO job")
            outcome = _Failed(error)
        self._connection.execute("RELEASE job")
        return outcome

    def _close(self) -> None:
        # The checkpoint spares the next start the work; without it nothing is lost.
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
