"""One writer with group commit, readers beside it, and no thread or file left behind."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from hermes.core.errors import HermesError
from hermes.store.database import Database
from hermes.store.errors import StoreClosed, StoreUnusable

SCHEMA = (("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL)",),)
PATIENCE = 10.0


def insert(text: str) -> Callable[[sqlite3.Connection], None]:
    def job(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))

    return job


def notes(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY id")]


def writer_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("writer of")}


def wait_for_end(threads: set[threading.Thread]) -> None:
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "notes.db"


@pytest.fixture(params=["in memory", "in a file"])
def database(request: pytest.FixtureRequest, path: Path) -> Iterator[Database]:
    opened = Database(None if request.param == "in memory" else path, SCHEMA)
    yield opened
    opened.close()


class AnnouncingQueue(SimpleQueue[Any]):
    """Says when a job has arrived."""

    def __init__(self) -> None:
        self.arrivals = threading.Semaphore(0)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        super().put(item, block, timeout)
        self.arrivals.release()


class HeldWriter:
    """Keeps the writer busy, so that what is asked meanwhile becomes one batch."""

    def __init__(self, database: Database) -> None:
        self.statements: list[str] = []
        self._database = database
        self._queue = database._writer._jobs = AnnouncingQueue()
        self._go = threading.Event()
        self._asking = ThreadPoolExecutor(max_workers=64)
        held = threading.Event()

        def hold(connection: sqlite3.Connection) -> None:
            held.set()
            assert self._go.wait(PATIENCE)
            connection.set_trace_callback(self.statements.append)

        database.submit(hold)
        assert held.wait(PATIENCE)
        assert self._queue.arrivals.acquire(timeout=PATIENCE)

    def ask(self, job: Callable[[sqlite3.Connection], object]) -> Future[object]:
        """Have another thread write `job`; returns when the job is in the writer's queue."""
        answer = self._asking.submit(self._database.write, job)
        assert self._queue.arrivals.acquire(timeout=PATIENCE)
        return answer

    def let_go(self) -> None:
        self._go.set()
        self._asking.shutdown()

    def commits(self) -> int:
        return self.statements.count("COMMIT")


def test_a_write_returns_the_result_of_its_job_and_is_seen_by_reads(database: Database) -> None:
    assert database.write(lambda connection: (insert("a")(connection), "done")[1]) == "done"
    assert database.read(notes) == ["a"]


def test_an_error_of_a_job_reaches_its_caller_and_undoes_its_changes(database: Database) -> None:
    def job(connection: sqlite3.Connection) -> None:
        insert("lost")(connection)
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        database.write(job)
    assert database.read(notes) == []


def test_jobs_that_wait_together_share_one_commit(database: Database) -> None:
    held = HeldWriter(database)
    answers = [held.ask(insert(str(number))) for number in range(40)]
    held.let_go()
    for answer in answers:
        answer.result(PATIENCE)
    # One for the job that held the writer, one for all the others.
    assert held.commits() == 2
    assert database.read(notes) == [str(number) for number in range(40)]


def test_a_failing_job_takes_none_of_its_batch_with_it(database: Database) -> None:
    held = HeldWriter(database)
    before, wrong, after = (held.ask(insert(text)) for text in ("same", "same", "other"))
    held.let_go()
    before.result(PATIENCE)
    after.result(PATIENCE)
    assert isinstance(wrong.exception(PATIENCE), sqlite3.IntegrityError)
    assert held.commits() == 2
    assert database.read(notes) == ["same", "other"]


def test_a_job_that_breaks_the_shared_transaction_hurts_only_itself(database: Database) -> None:
    def breaks(connection: sqlite3.Connection) -> None:
        insert("broken")(connection)
        connection.execute("ROLLBACK")
        raise LookupError("everything is rolled back")

    held = HeldWriter(database)
    before, wrong, after = held.ask(insert("a")), held.ask(breaks), held.ask(insert("b"))
    held.let_go()
    before.result(PATIENCE)
    after.result(PATIENCE)
    assert isinstance(wrong.exception(PATIENCE), LookupError)
    assert database.read(notes) == ["a", "b"]


def test_submitted_work_is_done_in_order_before_a_later_write(database: Database) -> None:
    for number in range(20):
        database.submit(insert(str(number)))
    database.write(insert("last"))
    assert database.read(notes) == [*map(str, range(20)), "last"]


def test_an_error_of_submitted_work_is_logged_and_the_writer_goes_on(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.write(insert("same"))
    with caplog.at_level(logging.ERROR):
        database.submit(insert("same"))
        database.write(insert("other"))
    assert [record.message for record in caplog.records] == ["A submitted write failed"]
    assert database.read(notes) == ["same", "other"]


def test_submitted_work_tells_when_it_is_committed_and_what_came_of_it(database: Database) -> None:
    answer = database.submit(lambda connection: (insert("a")(connection), "done")[1])
    assert not answer.cancel()
    assert answer.result(PATIENCE) == "done"
    assert database.read(notes) == ["a"]
    wrong = database.submit(insert("a"))
    assert isinstance(wrong.exception(PATIENCE), sqlite3.IntegrityError)


def test_submitted_work_that_does_not_fit_on_the_disk_says_so(path: Path) -> None:
    database = Database(path, SCHEMA)
    database.write(lambda connection: connection.execute("PRAGMA max_page_count = 12").fetchall())
    with pytest.raises(StoreUnusable, match=r"notes\.db cannot grow\. Free some disk space"):
        database.submit(insert("huge" * 100_000)).result(PATIENCE)
    database.close()


def test_a_database_can_wait_for_the_disk_and_give_space_back(path: Path) -> None:
    database = Database(path, SCHEMA, synchronous="FULL", can_shrink=True)

    def settings(connection: sqlite3.Connection) -> list[int]:
        names = ("synchronous", "auto_vacuum")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert database.write(settings) == [2, 2]
    database.close()


def test_work_outside_of_transactions_keeps_its_place_in_the_queue(database: Database) -> None:
    def alone(connection: sqlite3.Connection) -> list[str]:
        assert not connection.in_transaction
        connection.execute("VACUUM")
        return notes(connection)

    database.submit(insert("before"))
    answer = database.write_alone(alone)
    database.write(insert("after"))

    assert answer == ["before"]
    assert database.read(notes) == ["before", "after"]


def test_an_error_outside_of_transactions_reaches_its_caller(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError):
        database.write_alone(lambda connection: connection.execute("NONSENSE"))
    database.write(insert("still at work"))

    assert database.read(notes) == ["still at work"]


def test_a_job_that_calls_its_own_database_is_told_so_instead_of_waiting_for_ever(
    database: Database,
) -> None:
    with pytest.raises(RuntimeError, match="connection it was given"):
        database.write(lambda _: database.write(insert("nested")))


def test_a_read_sees_one_moment_even_while_others_write(path: Path) -> None:
    database = Database(path, SCHEMA)

    def read_twice(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
        first = notes(connection)
        database.write(insert("meanwhile"))
        return first, notes(connection)

    assert database.read(read_twice) == ([], [])
    assert database.read(notes) == ["meanwhile"]
    database.close()


def test_a_read_cannot_change_a_file(path: Path) -> None:
    database = Database(path, SCHEMA)
    with pytest.raises(StoreUnusable, match="cannot be written"):
        database.read(insert("sneaky"))
    assert database.read(notes) == []
    database.close()


def test_readers_run_beside_each_other(path: Path) -> None:
    database = Database(path, SCHEMA)
    meeting = threading.Barrier(12, timeout=PATIENCE)

    def query(connection: sqlite3.Connection) -> int:
        count = len(notes(connection))
        meeting.wait()
        return count

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(lambda _: database.read(query), range(12))) == [0] * 12
    database.close()


def test_a_reader_that_is_lent_while_the_database_closes_is_closed_afterwards(path: Path) -> None:
    database = Database(path, SCHEMA)
    lent: list[sqlite3.Connection] = []

    def query(connection: sqlite3.Connection) -> list[str]:
        lent.append(connection)
        database.close()
        return notes(connection)

    assert database.read(query) == []
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent[0].execute("SELECT 1")


def test_closing_stores_what_was_submitted_and_leaves_one_file(path: Path) -> None:
    database = Database(path, SCHEMA)
    for number in range(300):
        database.submit(insert(str(number)))
    database.close()
    assert [file.name for file in path.parent.iterdir()] == ["notes.db"]
    again = Database(path, SCHEMA)
    assert len(again.read(notes)) == 300
    again.close()


def test_a_closed_database_refuses_everything_with_a_clear_error(database: Database) -> None:
    database.write(insert("a"))
    database.close()
    database.close()
    calls: list[Callable[[], object]] = [
        lambda: database.write(insert("b")),
        lambda: database.submit(insert("b")),
        lambda: database.read(notes),
    ]
    for call in calls:
        with pytest.raises(StoreClosed, match=r"is closed\. Open a new store"):
            call()


def test_a_database_that_was_never_used_can_be_closed_and_starts_no_thread(
    database: Database,
) -> None:
    before = writer_threads()
    database.close()
    assert writer_threads() == before


def test_closing_ends_the_writer_thread(database: Database) -> None:
    before = writer_threads()
    database.write(insert("a"))
    [started] = writer_threads() - before
    database.close()
    assert not started.is_alive()


def use_and_forget(path: Path | None) -> weakref.ref[Database]:
    database = Database(path, SCHEMA)
    database.write(insert("a"))
    database.read(notes)

    def holds_its_database(_: sqlite3.Connection, held: Database = database) -> Database:
        return held

    database.submit(holds_its_database)
    return weakref.ref(database)


def test_forgotten_databases_leave_neither_threads_nor_connections(tmp_path: Path) -> None:
    before = writer_threads()
    paths = [None, *(tmp_path / f"{number}.db" for number in range(10)), None]
    forgotten = [use_and_forget(path) for path in paths]
    started = writer_threads() - before
    gc.collect()
    wait_for_end(started)
    assert [reference() for reference in forgotten] == [None] * len(paths)
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".db"] * 10


def test_a_failed_write_does_not_keep_a_forgotten_database_alive() -> None:
    before = writer_threads()
    database = Database(None, SCHEMA)

    def fails(_: sqlite3.Connection, held: Database = database) -> None:
        raise LookupError(str(held))

    with pytest.raises(LookupError):
        database.write(fails)
    started = writer_threads() - before
    del database, fails
    gc.collect()
    assert len(started) == 1
    wait_for_end(started)


def test_what_was_submitted_survives_a_normal_exit_without_close(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from hermes.store.database import Database\n"
        f"database = Database(Path(sys.argv[1]), {SCHEMA!r})\n"
        "for number in range(2000):\n"
        "    database.submit(lambda connection, text=str(number):"
        " connection.execute('INSERT INTO notes (text) VALUES (?)', (text,)))\n"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True, timeout=30)
    database = Database(path, SCHEMA)
    assert len(database.read(notes)) == 2000
    database.close()


def test_files_belong_to_the_owner_alone_while_open_and_after(path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = Database(path, SCHEMA)
        database.write(insert("secret"))
        database.read(notes)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["notes.db", "notes.db-wal", "notes.db-shm"], 0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_is_no_database_is_refused_with_its_name_and_advice(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"certainly not a database " * 100)
    with pytest.raises(HermesError, match=r"notes\.db is not a database\. .*move it away"):
        Database(path, SCHEMA)


def test_a_damaged_file_is_reported_with_its_name_and_advice(path: Path) -> None:
    database = Database(path, SCHEMA)
    for number in range(500):
        database.submit(insert(f"{number}" * 50))
    database.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"notes\.db is damaged\. Restore it from a backup"):
        Database(path, SCHEMA).read(notes)


def test_a_file_of_a_newer_program_is_refused(path: Path) -> None:
    Database(path, (*SCHEMA, ("CREATE TABLE later (id)",))).close()
    with pytest.raises(StoreUnusable, match=r"notes\.db was written by a newer Hermes"):
        Database(path, SCHEMA)


def test_a_place_where_no_file_can_be_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnusable, match=r"notes\.db cannot be opened .*you may write there"):
        Database(tmp_path / "file" / "notes.db", SCHEMA)


def test_a_full_disk_is_reported_and_only_what_does_not_fit_is_lost(path: Path) -> None:
    database = Database(path, SCHEMA)
    held = HeldWriter(database)
    held.ask(lambda connection: connection.execute("PRAGMA max_page_count = 12").fetchall())
    small, huge, other = (held.ask(insert(text)) for text in ("small", "huge" * 100_000, "other"))
    held.let_go()
    small.result(PATIENCE)
    other.result(PATIENCE)
    with pytest.raises(StoreUnusable, match=r"notes\.db cannot grow\. Free some disk space"):
        huge.result(PATIENCE)
    assert database.read(notes) == ["small", "other"]
    database.close()


def open_and_write(path: Path, start: threading.Barrier, text: str) -> None:
    start.wait(PATIENCE)
    database = Database(path, SCHEMA)
    database.write(insert(text))
    database.close()


def test_processes_that_create_the_same_file_at_once_all_succeed(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(4)
    processes = [
        spawn.Process(target=open_and_write, args=(path, start, str(number))) for number in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0] * 4
    database = Database(path, SCHEMA)
    assert sorted(database.read(notes)) == ["0", "1", "2", "3"]
    database.close()
