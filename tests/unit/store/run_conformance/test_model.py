"""Whatever workers, clients, viewers and crashes do in whatever order, the laws of runs hold.

A model in plain Python says what must come of every step; the store must agree, always.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from hermes.core.approvals import Decision
from hermes.core.errors import Fenced, SessionBusy
from hermes.core.events import Event, TextDelta, TurnEnded, TurnPaused
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import Idempotency, NewRun, RunStatus, WhenBusy
from hermes.core.turn import Outcome, TurnResult
from tests.unit.store.run_conformance.acting import done, request
from tests.unit.store.run_conformance.engines import ENGINES, LEASE, Place

ACTIVE = (RunStatus.RUNNING, RunStatus.STOPPING, RunStatus.WAITING_FOR_APPROVAL)
AT_WORK = (RunStatus.RUNNING, RunStatus.STOPPING)
SESSIONS = ("s", "t", None)


@dataclass(eq=False)
class Worker:
    name: str
    store: RunStore
    since: float
    is_alive: bool = True


@dataclass(eq=False)
class Kept:
    """What the model knows of a run."""

    id: str
    number: int
    rank: int
    session_id: str | None
    status: RunStatus = RunStatus.QUEUED
    owner: Worker | None = None
    attempt: int = 0
    log: list[Event] = field(default_factory=list)
    question: str | None = None
    decisions: dict[str, Decision] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return not self.status.is_final

    def is_written_by(self, worker: Worker) -> bool:
        owns = self.status in AT_WORK and self.owner is worker
        return worker.is_alive and (owns or self.status is RunStatus.QUEUED)


@dataclass(eq=False)
class Viewer:
    run_id: str
    seen: list[Event] = field(default_factory=list)


class RunMachine(RuleBasedStateMachine):
    workers = Bundle("workers")
    runs = Bundle("runs")
    viewers = Bundle("viewers")

    def __init__(self, engine: type[Any]) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place: Place = engine(Path(self.folder.name))
        self.kept: dict[str, Kept] = {}
        self.keys: dict[str, str] = {}
        self.all_workers: list[Worker] = []
        self.asking: RunStore = self.place.store()

    def teardown(self) -> None:
        self.place.close()
        self.folder.cleanup()

    # --- workers ------------------------------------------------------------------------------

    @initialize(target=workers)
    def first_worker(self) -> Worker:
        return self.new_worker(is_alone=False)

    @rule(target=workers)
    def another_worker(self) -> Worker:
        return self.new_worker(is_alone=False)

    @rule(target=workers)
    def everything_dies_and_a_successor_comes(self) -> Worker:
        for worker in self.all_workers:
            worker.is_alive = False
        heir = self.new_worker(is_alone=True)
        self.inherits(heir)
        return heir

    @rule(silent=consumes(workers), heir=workers)
    def one_falls_silent_for_a_lease(self, silent: Worker, heir: Worker) -> None:
        if silent is heir:
            return
        self.place.clock.advance(LEASE)
        for worker in self.all_workers:
            if worker.is_alive and worker is not silent:
                worker.store.heartbeat()
        if heir.is_alive:
            silent.is_alive = False
            self.inherits(heir)

    def new_worker(self, *, is_alone: bool) -> Worker:
        name = f"w{len(self.all_workers)}"
        worker = Worker(name, self.place.store(is_alone=is_alone), self.place.clock.time)
        worker.store.register(name, lease_seconds=LEASE)
        self.all_workers.append(worker)
        return worker

    def inherits(self, heir: Worker) -> None:
        orphans = [
            kept
            for kept in self.kept.values()
            if kept.status in AT_WORK and kept.owner is not None and not kept.owner.is_alive
        ]
        taken = heir.store.orphans()
        assert [run.id for run in taken] == [kept.id for kept in orphans]
        for kept in orphans:
            kept.owner = heir

    # --- asking -------------------------------------------------------------------------------

    @rule(
        target=runs,
        session_id=st.sampled_from(SESSIONS),
        when_busy=st.sampled_from(WhenBusy),
        key=st.none() | st.sampled_from(["k", "l"]),
    )
    def submit(self, session_id: str | None, when_busy: WhenBusy, key: str | None) -> str:
        number = len(self.kept)
        asked = NewRun(
            id=f"r{number}",
            kind="run",
            owner="anna",
            session_id=session_id,
            when_busy=when_busy,
            idempotency=key and Idempotency(key=key, scope="x", fingerprint="y"),  # type: ignore[arg-type]
        )
        ahead = self.open_runs_of(session_id)
        if key in self.keys:
            assert self.asking.submit(asked).run.id == self.keys[key]
            return self.keys[key]
        if when_busy is WhenBusy.REJECT and ahead:
            with pytest.raises(SessionBusy):
                self.asking.submit(asked)
            return ahead[0].id
        return self.accepted(asked, number, ahead)

    def accepted(self, asked: NewRun, number: int, ahead: list[Kept]) -> str:
        interrupts = asked.when_busy is WhenBusy.INTERRUPT and bool(ahead)
        rank = min(kept.rank for kept in ahead) - 1 if interrupts else number
        active = [kept.id for kept in ahead if kept.status in ACTIVE]
        submitted = self.asking.submit(asked)
        assert not submitted.replayed
        assert submitted.interrupts == (active[0] if interrupts and active else None)
        assert submitted.place == (len(active) if interrupts else len(ahead))
        self.kept[asked.id] = Kept(asked.id, number, rank, asked.session_id)
        if asked.idempotency is not None:
            self.keys[asked.idempotency.key] = asked.id
        return asked.id

    @rule(run_id=runs)
    def stop(self, run_id: str) -> None:
        kept = self.kept[run_id]
        self.asking.request_stop(run_id)
        if kept.status is RunStatus.RUNNING:
            kept.status = RunStatus.STOPPING
        elif kept.status in (RunStatus.QUEUED, RunStatus.WAITING_FOR_APPROVAL):
            if kept.question is not None:
                kept.decisions[f"call_{kept.question}"] = Decision.DENY
            kept.status, kept.question = RunStatus.CANCELLED, None
            kept.log.append(self.asking.read(run_id)[-1].event)

    # --- working ------------------------------------------------------------------------------

    @rule(worker=workers, limit=st.integers(1, 3))
    def claim(self, worker: Worker, limit: int) -> None:
        if not worker.is_alive:
            with pytest.raises(Fenced):
                worker.store.claim(limit)
            return
        ready = [kept for kept in self.kept.values() if self.is_next(kept)][:limit]
        assert [run.id for run in worker.store.claim(limit)] == [kept.id for kept in ready]
        for kept in ready:
            self.taken(kept, worker)

    @rule(worker=workers, run_id=runs)
    def take_up(self, worker: Worker, run_id: str) -> None:
        kept = self.kept[run_id]
        is_waiting = kept.status is RunStatus.WAITING_FOR_APPROVAL
        from_status = RunStatus.WAITING_FOR_APPROVAL if is_waiting else RunStatus.QUEUED
        try:
            run = worker.store.take_up(run_id, from_status=from_status)
        except Fenced:
            assert not worker.is_alive
            return
        assert (run is not None) == (is_waiting or self.is_next(kept))
        if run is not None:
            self.taken(kept, worker)
            kept.question = None
            assert (run.attempt, run.last_seq) == (kept.attempt, len(kept.log))

    @rule(worker=workers, run_id=runs, count=st.integers(1, 4), again=st.booleans())
    def append(self, worker: Worker, run_id: str, count: int, again: bool) -> None:
        kept = self.kept[run_id]
        said: list[Event] = [TextDelta(f"{worker.name} {n}") for n in range(count)]
        repeated = kept.log[-1:] if again else []
        first = len(kept.log) - len(repeated) + 1
        batch = [NewEvent(run_id, first + n, 1.0, each) for n, each in enumerate(repeated + said)]
        if self.agrees(kept, worker, worker.store.append(batch)):
            kept.log += said

    @rule(worker=workers, run_id=runs, status=st.sampled_from([s for s in RunStatus if s.is_final]))
    def finish(self, worker: Worker, run_id: str, status: RunStatus) -> None:
        kept = self.kept[run_id]
        event = TurnEnded(TurnResult(text=worker.name), status.value)
        last = NewEvent(run_id, len(kept.log) + 1, 1.0, event)
        if self.agrees(kept, worker, worker.store.finish(status, last), at_work=True):
            kept.log.append(event)
            kept.status = status

    @rule(worker=workers, run_id=runs)
    def pause(self, worker: Worker, run_id: str) -> None:
        kept = self.kept[run_id]
        question = f"{run_id}-{len(kept.log)}"
        asked = TurnResult(outcome=Outcome.ASKING, approvals=(request(question),))
        last = NewEvent(run_id, len(kept.log) + 1, 1.0, TurnPaused(asked))
        if self.agrees(kept, worker, worker.store.pause(last), at_work=True):
            kept.log.append(last.event)
            kept.status, kept.question = RunStatus.WAITING_FOR_APPROVAL, question

    @rule(run_id=runs, decision=st.sampled_from(Decision))
    def decide(self, run_id: str, decision: Decision) -> None:
        kept = self.kept[run_id]
        question = kept.question or "none"
        counted = self.asking.decide(question, decision, by="client")
        call_id = f"call_{question}"
        assert counted == (kept.question is not None and call_id not in kept.decisions)
        if counted:
            kept.decisions[call_id] = decision

    @rule(worker=workers, run_id=runs)
    def requeue(self, worker: Worker, run_id: str) -> None:
        kept = self.kept[run_id]
        try:
            worker.store.requeue(run_id)
        except Fenced:
            assert not (kept.status in AT_WORK and kept.is_written_by(worker))
            return
        assert kept.is_written_by(worker)
        kept.status, kept.owner = RunStatus.QUEUED, None

    # --- watching -----------------------------------------------------------------------------

    @rule(target=viewers, run_id=runs)
    def begin_to_watch(self, run_id: str) -> Viewer:
        return Viewer(run_id)

    @rule(viewer=viewers, limit=st.integers(1, 3))
    def watch(self, viewer: Viewer, limit: int) -> None:
        page = self.asking.read(viewer.run_id, after=len(viewer.seen), limit=limit)
        first = len(viewer.seen) + 1
        assert [logged.seq for logged in page] == list(range(first, first + len(page)))
        viewer.seen += [logged.event for logged in page]
        assert viewer.seen == self.kept[viewer.run_id].log[: len(viewer.seen)]
        assert len(page) == limit or len(viewer.seen) == len(self.kept[viewer.run_id].log)

    # --- laws ---------------------------------------------------------------------------------

    @invariant()
    def every_run_is_as_the_model_says(self) -> None:
        for kept in self.kept.values():
            run = self.asking.get(kept.id)
            assert run is not None
            assert (run.status, run.attempt, run.last_seq) == (
                kept.status,
                kept.attempt,
                len(kept.log),
            )

    @invariant()
    def a_session_is_at_work_on_one_run_at_most(self) -> None:
        for session_id in ("s", "t"):
            active = [kept.id for kept in self.open_runs_of(session_id) if kept.status in ACTIVE]
            assert len(active) <= 1
            run = self.asking.active(session_id)
            assert ([] if run is None else [run.id]) == active

    @invariant()
    def an_end_comes_once_and_last(self) -> None:
        for kept in self.kept.values():
            ends = [isinstance(event, TurnEnded) for event in kept.log]
            assert ends == [False] * (len(ends) - 1) + [kept.status.is_final] if ends else True

    @invariant()
    def decisions_are_those_that_counted(self) -> None:
        for kept in self.kept.values():
            assert self.asking.decisions(kept.id) == kept.decisions

    def agrees(self, kept: Kept, worker: Worker, answer: Any, *, at_work: bool = False) -> bool:
        """Whether the store took it, which must be what the model expects."""
        expected = kept.is_written_by(worker) and (not at_work or kept.status in AT_WORK)
        try:
            done(answer)
        except Fenced:
            assert not expected
            return False
        assert expected
        return True

    def open_runs_of(self, session_id: str | None) -> list[Kept]:
        """The active one first, then the queue in order."""
        found = [
            kept
            for kept in self.kept.values()
            if session_id is not None and kept.session_id == session_id and kept.is_open
        ]
        return sorted(
            found, key=lambda kept: (kept.status is RunStatus.QUEUED, kept.rank, kept.number)
        )

    def is_next(self, kept: Kept) -> bool:
        if kept.status is not RunStatus.QUEUED:
            return False
        return kept.session_id is None or self.open_runs_of(kept.session_id)[0] is kept

    def taken(self, kept: Kept, worker: Worker) -> None:
        kept.status, kept.owner = RunStatus.RUNNING, worker
        kept.attempt += 1


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_the_laws_hold_whatever_happens_in_whatever_order(engine: type[Any]) -> None:
    run_state_machine_as_test(
        lambda: RunMachine(engine),
        settings=settings(
            max_examples=30,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
