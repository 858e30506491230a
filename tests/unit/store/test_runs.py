"""The store of runs on a real file: under threads, under kill -9, and getting smaller again.

What every engine must do is in `run_conformance`.
"""

from __future__ import annotations

import random
import re
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hermes.core.events import TextDelta
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import RunRetention
from hermes.store import run_approvals, run_events, run_retention, run_rows, run_workers
from hermes.store.runs import SqliteRunStore, open_runs
from tests.unit.store.run_conformance.acting import (
    PATIENCE,
    append,
    begun,
    deltas,
    finish,
    keyed,
    new,
    numbers,
)

ROUNDS = 20
WRITER = """
import sys
from pathlib import Path
from hermes.core.events import TextDelta
from hermes.core.run_ports import NewEvent
from hermes.core.runs import NewRun
from hermes.store.runs import SqliteRunStore, open_runs

path, name = sys.argv[1:]
store = SqliteRunStore(open_runs(Path(path)))
store.register(name, lease_seconds=10)
runs = [f"{name}-{number}" for number in range(3)]
for run_id in runs:
    store.submit(NewRun(id=run_id, kind="run", owner="anna"))
    store.take_up(run_id)
seq = 0
while True:
    seq += 1
    pending = [
        (run_id, store.append([NewEvent(run_id, seq, 1.0, TextDelta("x" * 200))]))
        for run_id in runs
    ]
    for run_id, answer in pending:
        answer.result()
        print(run_id, seq, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Iterator[RunStore]:
    opened = SqliteRunStore(open_runs(path))
    opened.register("w1", lease_seconds=10)
    yield opened
    opened.close()


def test_many_writers_and_viewers_at_once_see_the_same_dense_logs(store: RunStore) -> None:
    runs, length = [f"r{number}" for number in range(6)], 60
    for run_id in runs:
        begun(store, run_id, None)

    def write(run_id: str) -> None:
        answers = [store.append(deltas(run_id, seq, seq)) for seq in range(1, length)]
        finish(store, run_id, length)
        assert all(answer.done() for answer in answers)

    def watch(run_id: str) -> list[int]:
        seen: list[int] = []
        while len(seen) < length and not late.is_set():
            seen += [logged.seq for logged in store.read(run_id, after=len(seen), limit=7)]
        return seen

    late = threading.Event()
    timer = threading.Timer(PATIENCE, late.set)
    timer.start()
    with ThreadPoolExecutor(18) as pool:
        watching = [pool.submit(watch, run_id) for run_id in [*runs, *runs]]
        writing = [pool.submit(write, run_id) for run_id in runs]
        for each in writing:
            each.result(PATIENCE)
        seen = [each.result(PATIENCE) for each in watching]
    timer.cancel()
    assert seen == [list(range(1, length + 1))] * len(watching)


def test_every_acknowledged_event_survives_kill_9_at_any_moment(path: Path) -> None:
    chance = random.Random(4)
    acknowledged: dict[str, int] = {}
    for number in range(ROUNDS):
        acknowledged |= killed(path, f"w{number}", after=chance.randrange(1, 60))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = SqliteRunStore(open_runs(path))
    store.register("heir", lease_seconds=10)
    assert {run.id for run in store.orphans()} >= set(acknowledged)
    for run_id, seq in acknowledged.items():
        kept = numbers(store, run_id)
        assert kept == list(range(1, len(kept) + 1))
        assert len(kept) >= seq
    store.close()


def killed(path: Path, name: str, *, after: int) -> dict[str, int]:
    """Let a process write until it said so often that something is kept; what it said last."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout as said:
        lines = [said.readline() for _ in range(after)]
        process.kill()
        # What was in the pipe already was acknowledged too; a torn line was not.
        lines += [line for line in said if line.endswith("\n")]
    return {run_id: int(seq) for run_id, seq in map(str.split, lines)}


def test_a_log_goes_on_in_the_next_process_where_it_was(path: Path) -> None:
    first = SqliteRunStore(open_runs(path))
    first.register("w1", lease_seconds=10)
    begun(first, "r1")
    append(first, *deltas("r1", 1, 3))
    first.submit(keyed("r2", "k"))
    first.close()
    second = SqliteRunStore(open_runs(path))
    second.register("w2", lease_seconds=10)
    [orphan] = second.orphans()
    assert (orphan.id, orphan.last_seq) == ("r1", 3)
    append(second, *deltas("r1", 4, 4))
    assert numbers(second, "r1") == [1, 2, 3, 4]
    assert second.submit(keyed("r3", "k")).replayed
    second.close()


def test_a_swept_file_is_really_smaller(path: Path) -> None:
    store = SqliteRunStore(open_runs(path), retention=RunRetention(keep_runs_seconds=0.0))
    store.register("w1", lease_seconds=10)
    begun(store, "r1")
    append(store, *deltas("r1", 1, 20_000))
    finish(store, "r1", 20_001)
    store.close()
    large = path.stat().st_size
    sweeping = SqliteRunStore(open_runs(path), retention=RunRetention(keep_runs_seconds=0.0))
    sweeping.sweep(4e9)
    sweeping.close()
    assert path.stat().st_size < large / 4


def test_nothing_of_a_deleted_session_is_left_in_the_file(store: RunStore, path: Path) -> None:
    chance = random.Random(4)
    lengths = {f"r{number}": 0 for number in range(8)}
    for run_id in lengths:
        begun(store, run_id, f"talk-{run_id}", input={"said": f"secret-{run_id}-asked"})
    for _ in range(600):
        run_id = chance.choice([*lengths])
        lengths[run_id] += 1
        text = f"secret-{run_id}-" + "x" * chance.choice([3, 60, 2000])
        append(store, NewEvent(run_id, lengths[run_id], 1.0, TextDelta(text)))
    for run_id, length in lengths.items():
        finish(store, run_id, length + 1)
    assert store.delete_session("talk-r3") == 1
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"secret-r3-" not in kept
    assert b"talk-r3" not in kept
    assert b"secret-r4-" in kept
    assert numbers(store, "r4") == list(range(1, lengths["r4"] + 2))


def test_a_deletion_that_was_cut_off_is_finished_by_the_next_sweep(
    store: RunStore, path: Path
) -> None:
    begun(store, "r1", input={"said": "secret-asked"})
    finish(store, "r1", 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM runs").fetchall()
        store.delete_session("s")
    store.sweep(0.0)
    assert b"secret-asked" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_the_file_belongs_to_its_owner_alone(store: RunStore, path: Path) -> None:
    store.submit(new("r1"))
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}


def test_what_is_asked_every_moment_is_found_by_an_index(path: Path) -> None:
    """A store of many finished runs stays as fast as an empty one."""
    open_runs(path).close()
    statements = [
        run_events._LOG,
        run_events._READ,
        run_workers._NEXT,
        run_workers._TO_STOP,
        run_workers._ORPHANS,
        run_retention._TO_THIN,
        run_retention._OLDEST,
        run_rows._ACTIVE,
        run_rows._BEFORE,
        run_approvals._STUCK,
    ]
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            names = dict.fromkeys(re.findall(r":(\w+)", statement))
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", names).fetchall()
            scans = [row[3] for row in plan if row[3].startswith("SCAN") and "INDEX" not in row[3]]
            # There are never many workers.
            assert [scan for scan in scans if scan != "SCAN workers"] == [], statement
