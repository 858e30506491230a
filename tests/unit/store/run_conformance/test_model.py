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
    invariant,
    precondition,
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
TAKEABLE = (RunStatus.QUEUED, RunStatus.WAITING_FOR_APPROVAL)
FINAL = [status for status in RunStatus if status.is_final]
PICKS = st.integers(0, 99)


@dataclass(eq=False)
class Worker:
    name: str
    store: RunStore
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


@dataclass(eq=False)
class Viewer:
    run_id: str
    seen: list[Event] = field(default_factory=list)


class RunMachine(RuleBasedStateMachine):
    """Rules pick among what there is, so that most of what is tried can succeed.

    What cannot is a rule of its own.
    """

    viewers = Bundle("viewers")

    def __init__(self, engine: type[Any]) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place: Place = engine(Path(self.folder.name))
        self.kept: dict[str, Kept] = {}
        self.keys: dict[str, str] = {}
        self.workers: list[Worker] = []
        self.asking: RunStore = self.place.store()
        self.new_worker(is_alone=False)
        self.new_worker(is_alone=False)

    def teardown(self) -> None:
        self.place.close()
        self.folder.cleanup()

    # --- asking -------------------------------------------------------------------------------

    @rule(
        session_id=st.sampled_from(["s", "s", "t", None]),
        when_busy=st.sampled_from(WhenBusy),
        key=st.sampled_from([None, None, None, "k"]),
    )
    def submit(self, session_id: str | None, when_busy: WhenBusy, key: str | None) -> None:
        asked = NewRun(
            id=f"r{len(self.kept)}",
            kind="run",
            owner="anna",
            session_id=session_id,
            when_busy=when_busy,
            idempotency=None if key is None else Idempotency(key=key, scope="x", fingerprint="y"),
        )
        ahead = self.open_runs_of(session_id)
        if key in self.keys:
            again = self.asking.submit(asked)
            assert (again.replayed, again.run.id) == (True, self.keys[key])
        elif when_busy is WhenBusy.REJECT and ahead:
            with pytest.raises(SessionBusy) as refused:
                self.asking.submit(asked)
            assert refused.value.active_run_id == ahead[0].id
        else:
            self.accepted(asked, ahead)

    def accepted(self, asked: NewRun, ahead: list[Kept]) -> None:
        number = len(self.kept)
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

    @precondition(lambda self: self.kept)
    @rule(pick=PICKS)
    def stop(self, pick: int) -> None:
        kept = [*self.kept.values()][pick % len(self.kept)]
        self.asking.request_stop(kept.id)
        if kept.status is RunStatus.RUNNING:
            kept.status = RunStatus.STOPPING
        elif kept.status in (RunStatus.QUEUED, RunStatus.WAITING_FOR_APPROVAL):
            if kept.question is not None:
                kept.decisions.setdefault(f"call_{kept.question}", Decision.DENY)
            kept.status, kept.question = RunStatus.CANCELLED, None
            kept.log += [each.event for each in self.asking.read(kept.id, after=len(kept.log))]

    @precondition(lambda self: self.those_in(RunStatus.WAITING_FOR_APPROVAL))
    @rule(pick=PICKS, decision=st.sampled_from(Decision))
    def decide_and_think_again(self, pick: int, decision: Decision) -> None:
        kept = self.pick(pick, RunStatus.WAITING_FOR_APPROVAL)
        assert kept.question is not None
        call_id = f"call_{kept.question}"
        counted = self.asking.decide(kept.question, decision, by="client")
        assert counted == (call_id not in kept.decisions)
        kept.decisions.setdefault(call_id, decision)
        assert not self.asking.decide(kept.question, Decision.DENY, by="client")

    # --- working ------------------------------------------------------------------------------

    @precondition(lambda self: self.those_in(RunStatus.QUEUED))
    @rule(pick=PICKS, limit=st.integers(1, 3))
    def claim(self, pick: int, limit: int) -> None:
        worker = self.living(pick)
        ready = [kept for kept in self.kept.values() if self.is_next(kept)][:limit]
        assert [run.id for run in worker.store.claim(limit)] == [kept.id for kept in ready]
        for kept in ready:
            self.taken(kept, worker)

    @precondition(lambda self: self.those_in(*TAKEABLE))
    @rule(pick=PICKS)
    def take_up(self, pick: int) -> None:
        worker, kept = self.living(pick), self.pick(pick, *TAKEABLE)
        run = worker.store.take_up(kept.id, from_status=kept.status)
        is_waiting = kept.status is RunStatus.WAITING_FOR_APPROVAL
        assert (run is not None) == (is_waiting or self.is_next(kept))
        if run is not None:
            if kept.question is not None:
                kept.decisions.setdefault(f"call_{kept.question}", Decision.DENY)
            self.taken(kept, worker)
            assert (run.attempt, run.last_seq) == (kept.attempt, len(kept.log))

    @precondition(lambda self: self.those_in(*AT_WORK))
    @rule(pick=PICKS, count=st.integers(1, 4), again=st.booleans())
    def append(self, pick: int, count: int, again: bool) -> None:
        kept = self.pick(pick, *AT_WORK)
        assert kept.owner is not None
        said: list[Event] = [TextDelta(f"{kept.owner.name} {n}") for n in range(count)]
        repeated = kept.log[-1:] if again else []
        first = len(kept.log) - len(repeated) + 1
        batch = [NewEvent(kept.id, first + n, 1.0, each) for n, each in enumerate(repeated + said)]
        done(kept.owner.store.append(batch))
        kept.log += said

    @precondition(lambda self: self.those_in(*AT_WORK))
    @rule(pick=PICKS, status=st.sampled_from(FINAL))
    def finish(self, pick: int, status: RunStatus) -> None:
        kept = self.pick(pick, *AT_WORK)
        assert kept.owner is not None
        last = end_of(kept, status)
        done(kept.owner.store.finish(status, last))
        kept.log.append(last.event)
        kept.status = status

    @precondition(lambda self: self.those_in(*AT_WORK))
    @rule(pick=PICKS)
    def pause(self, pick: int) -> None:
        kept = self.pick(pick, *AT_WORK)
        assert kept.owner is not None
        last, question = question_of(kept)
        done(kept.owner.store.pause(last))
        kept.log.append(last.event)
        kept.status, kept.question = RunStatus.WAITING_FOR_APPROVAL, question

    @precondition(lambda self: self.those_in(*AT_WORK))
    @rule(pick=PICKS)
    def requeue(self, pick: int) -> None:
        kept = self.pick(pick, *AT_WORK)
        assert kept.owner is not None
        kept.owner.store.requeue(kept.id)
        kept.status, kept.owner = RunStatus.QUEUED, None

    @precondition(lambda self: self.kept)
    @rule(pick=PICKS, by=PICKS, act=st.sampled_from(["append", "finish", "pause", "requeue"]))
    def somebody_else_tries_to_write(self, pick: int, by: int, act: str) -> None:
        kept = [*self.kept.values()][pick % len(self.kept)]
        worker = self.workers[by % len(self.workers)]
        if kept.status in AT_WORK and kept.owner is worker:
            return
        if act == "append" and kept.status is RunStatus.QUEUED and worker.is_alive:
            return
        with pytest.raises(Fenced):
            match act:
                case "append":
                    lie = NewEvent(kept.id, len(kept.log) + 1, 1.0, TextDelta("a lie"))
                    done(worker.store.append([lie]))
                case "finish":
                    done(worker.store.finish(FINAL[0], end_of(kept, FINAL[0])))
                case "pause":
                    done(worker.store.pause(question_of(kept)[0]))
                case _:
                    worker.store.requeue(kept.id)

    # --- coming and going ---------------------------------------------------------------------

    @rule(what=st.sampled_from(["comes", "all die", "silent", "silent"]), pick=PICKS)
    def something_happens_to_a_worker(self, what: str, pick: int) -> None:
        match what:
            case "comes":
                self.new_worker(is_alone=False)
            case "all die":
                for worker in self.workers:
                    worker.is_alive = False
                self.inherits(self.new_worker(is_alone=True))
            case _:
                self.falls_silent(self.living(pick))

    def falls_silent(self, silent: Worker) -> None:
        others = [each for each in self.workers if each.is_alive and each is not silent]
        self.place.clock.advance(LEASE)
        for worker in others:
            worker.store.heartbeat()
        if others:
            silent.is_alive = False
            self.inherits(others[0])
        else:
            silent.store.heartbeat()  # nobody has missed it

    def new_worker(self, *, is_alone: bool) -> Worker:
        name = f"w{len(self.workers)}"
        worker = Worker(name, self.place.store(is_alone=is_alone))
        worker.store.register(name, lease_seconds=LEASE)
        self.workers.append(worker)
        return worker

    def inherits(self, heir: Worker) -> None:
        orphans = [
            kept
            for kept in self.those_in(*AT_WORK)
            if kept.owner is not None and not kept.owner.is_alive
        ]
        taken = heir.store.orphans()
        assert [run.id for run in taken] == [kept.id for kept in orphans]
        for kept in orphans:
            kept.owner = heir

    # --- watching -----------------------------------------------------------------------------

    @precondition(lambda self: self.kept)
    @rule(target=viewers, pick=PICKS)
    def begin_to_watch(self, pick: int) -> Viewer:
        return Viewer([*self.kept][pick % len(self.kept)])

    @rule(viewer=viewers, limit=st.integers(1, 3))
    def watch(self, viewer: Viewer, limit: int) -> None:
        page = self.asking.read(viewer.run_id, after=len(viewer.seen), limit=limit)
        first = len(viewer.seen) + 1
        assert [logged.seq for logged in page] == list(range(first, first + len(page)))
        viewer.seen += [logged.event for logged in page]
        log = self.kept[viewer.run_id].log
        assert viewer.seen == log[: len(viewer.seen)]
        assert len(page) == limit or len(viewer.seen) == len(log)

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

    def those_in(self, *states: RunStatus) -> list[Kept]:
        return [kept for kept in self.kept.values() if kept.status in states]

    def pick(self, pick: int, *states: RunStatus) -> Kept:
        found = self.those_in(*states)
        return found[pick % len(found)]

    def living(self, pick: int) -> Worker:
        found = [worker for worker in self.workers if worker.is_alive]
        return found[pick % len(found)]

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
        kept.status, kept.owner, kept.question = RunStatus.RUNNING, worker, None
        kept.attempt += 1


def end_of(kept: Kept, status: RunStatus) -> NewEvent:
    event = TurnEnded(TurnResult(text=kept.id), status.value)
    return NewEvent(kept.id, len(kept.log) + 1, 1.0, event)


def question_of(kept: Kept) -> tuple[NewEvent, str]:
    question = f"{kept.id}-{len(kept.log)}"
    asked = TurnResult(outcome=Outcome.ASKING, approvals=(request(question),))
    return NewEvent(kept.id, len(kept.log) + 1, 1.0, TurnPaused(asked)), question


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_the_laws_hold_whatever_happens_in_whatever_order(engine: type[Any]) -> None:
    run_state_machine_as_test(
        lambda: RunMachine(engine),
        settings=settings(
            max_examples=30,
            stateful_step_count=40,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
