"""Events through the durable log, against SQLite itself: a commit for every single event.

The real writer, store and viewers of the gateway on a file, without HTTP and without an agent.
Every piece of text is equally long, so what a viewer was shown tells which pieces it has seen.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import uvloop

from bench.load import percentile
from bench.outcomes import Announce, Effort, Numbers, Outcome, Pair
from hermes.core.events import TextDelta
from hermes.core.run_ports import NewEvent
from hermes.core.runs import NewRun
from hermes.runs.live_logs import LiveLogs
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.store.runs import SqliteRunStore, open_runs

_PIECE = " word%04d"
_PIECE_LENGTH = len(_PIECE % 0)
_PACE = 30
"""Events per second and run, as a model speaks."""
_EVENTS_AT_FULL_SPEED = 20_000
_COMMITS = 200


@dataclass(frozen=True, slots=True)
class Case:
    """So many runs at once, as fast as they can or as fast as a model speaks."""

    runs: int
    is_paced: bool

    @property
    def name(self) -> str:
        return f"log-{self.runs}{'-paced' if self.is_paced else ''}"

    @property
    def title(self) -> str:
        speed = f"{_PACE} events/s each" if self.is_paced else "full speed"
        return f"durable log, {'1 run' if self.runs == 1 else f'{self.runs} runs'}, {speed}"

    def events_of_a_run(self, effort: Effort) -> int:
        if self.is_paced:
            return max(2, round(_PACE * effort.seconds))
        return _EVENTS_AT_FULL_SPEED // self.runs


CASES = tuple(Case(runs, paced) for paced in (False, True) for runs in (1, 20, 100))


def play(cases: Sequence[Case], effort: Effort, announce: Announce) -> list[Outcome]:
    outcomes = []
    for case in cases:
        announce(case.title)
        outcome = Outcome(case.name, case.title, ("commit each", "log"))
        for _ in range(effort.slow_pairs):
            reference = _commit_each()
            with _stage(case) as stage, asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
                measured = loop.run(stage.play(case, case.events_of_a_run(effort)))
            outcome.pairs.append(Pair(reference, measured))
            outcome.problems.extend(stage.problems)
        outcomes.append(outcome)
    return outcomes


def _commit_each() -> Numbers:
    """What a disk and SQLite take for an event that is committed alone."""
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder:
        path = Path(folder) / "plain.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, text TEXT)")
            return _timed_commits(connection)


def _timed_commits(connection: sqlite3.Connection) -> Numbers:
    took: list[float] = []
    started, cpu = perf_counter(), process_time()
    for number in range(_COMMITS):
        begun = perf_counter()
        connection.execute("INSERT INTO events (text) VALUES (?)", (_PIECE % number,))
        took.append(perf_counter() - begun)
    return _numbers(took, _COMMITS, perf_counter() - started, process_time() - cpu)


def _numbers(took: list[float], rows: int, seconds: float, cpu: float) -> Numbers:
    took = sorted(took)
    return {
        "events_per_second": len(took) / seconds,
        "visible_p50_ms": percentile(took, 0.50) * 1e3,
        "visible_p95_ms": percentile(took, 0.95) * 1e3,
        "rows_per_event": rows / len(took),
        "cpu_us_per_event": cpu * 1e6 / len(took),
    }


@contextmanager
def _stage(case: Case) -> Iterator[Stage]:
    """Runs that are taken up, in a store on a file of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder,
        closing(SqliteRunStore(open_runs(Path(folder) / "runs.db"))) as store,
    ):
        store.register("bench", lease_seconds=600)
        for number in range(case.runs):
            store.submit(NewRun(id=f"run_{number}", kind="run", owner="bench"))
            store.take_up(f"run_{number}")
        yield Stage(store)


class Stage:
    """One round: speakers put events in, viewers take them out."""

    def __init__(self, store: SqliteRunStore) -> None:
        self._store = store
        self._logs = LiveLogs()
        self._writer = LogWriter(self._append, self._logs.deliver)
        self._rows = 0
        self.problems: list[str] = []

    async def play(self, case: Case, events: int) -> Numbers:
        started, cpu = perf_counter(), process_time()
        seen = await asyncio.gather(
            *(self._run(f"run_{number}", case, number, events) for number in range(case.runs))
        )
        seconds, cpu = perf_counter() - started, process_time() - cpu
        return _numbers([delay for run in seen for delay in run], self._rows, seconds, cpu)

    def _append(self, events: Sequence[NewEvent]) -> Future[None]:
        self._rows += len(events)
        return self._store.append(events)

    async def _run(self, run_id: str, case: Case, number: int, events: int) -> list[float]:
        """The seconds from each event to its sight."""
        said: list[float] = []
        viewing = asyncio.create_task(self._view(run_id, said, events))
        log = OpenLog(run_id, 1, on_failure=lambda error: self.problems.append(str(error)))
        # Runs do not speak in step.
        begun = perf_counter() + number / case.runs / _PACE
        for place in range(events):
            await asyncio.sleep(begun + place / _PACE - perf_counter() if case.is_paced else 0)
            said.append(perf_counter())
            self._writer.put(log, TextDelta(_PIECE % (place % 10_000)))
        return await viewing

    async def _view(self, run_id: str, said: Sequence[float], events: int) -> list[float]:
        viewer = self._logs.join(run_id)
        delays: list[float] = []
        text: list[str] = []
        while len(delays) < events:
            taken, _ = await viewer.take()
            now = perf_counter()
            for logged in taken:
                assert isinstance(logged.event, TextDelta)
                text.append(logged.event.text)
                count = len(logged.event.text) // _PIECE_LENGTH
                delays += [now - then for then in said[len(delays) : len(delays) + count]]
        self._logs.leave(run_id, viewer)
        if "".join(text) != "".join(_PIECE % (place % 10_000) for place in range(events)):
            self.problems.append(f"{run_id}: the viewer saw another text than was said")
        return delays
