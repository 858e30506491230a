"""What a dead process left behind is settled: nothing is lost, nothing is done twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.events import (
    Event,
    MessageKept,
    RunStarted,
    TextDelta,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import CANCEL, NewRun, Run, RunStatus
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.engine import Runs
from hermes.runs.limits import Gate
from hermes.runs.threads import Threads
from hermes.server.recovery import recover
from hermes.server.seams import Seams
from hermes.settings.model import RunSettings
from hermes.store.process_runs import ProcessRunStore
from tests.unit.runs.fakes import until
from tests.unit.server.fakes import FakeTurns, fake_seams

SAID = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "One moment."},
]
INPUT = {
    "model": "test-model",
    "head": {},
    "caller": {"session_id": None, "session_key": None, "chat_id": None},
    "dialect": {"responses": "function_call", "chat": "event", "reasoning": "hide"},
    "body": {},
    "request": {"input": "Hello"},
}


def kept(**wanted: Any) -> NewRun:
    return NewRun(**{"id": "run_1", "kind": "run", "owner": "nobody", "input": INPUT, **wanted})


def question() -> ApprovalRequest:
    return ApprovalRequest(
        id="appr_1",
        code="ABCDE",
        call_id="c1",
        tool="terminal",
        arguments={},
        shown="rm -rf /",
        reason="It deletes.",
        expires_at=4e9,
    )


def died(home: Path, prepare: Callable[[RunStore], None]) -> None:
    """A process that did this, and is gone."""
    process = ProcessRunStore(home / "runs.db")
    prepare(process.registered())
    process.close()


def at_work(new: NewRun, events: Sequence[Event], *, times: int = 1) -> Callable[[RunStore], None]:
    def prepare(store: RunStore) -> None:
        store.submit(new)
        for number in range(times):
            store.take_up(new.id)
            if number < times - 1:
                store.requeue(new.id)
        numbered = [NewEvent(new.id, seq, 1.0, event) for seq, event in enumerate(events, 1)]
        store.append(numbered).result()

    return prepare


@asynccontextmanager
async def restarted(
    home: Path, turns: FakeTurns | None = None, **settings: Any
) -> AsyncIterator[Seams]:
    process, storage = ProcessRunStore(home / "runs.db"), Threads("storage", 2)
    gate, wanted = Gate(10, lambda _owner: 0), RunSettings(**settings)
    runs = Runs(
        store=process.registered,
        storage=storage,
        run_turn=lambda *turn: seams.run_turn(*turn),
        settings=wanted,
        gate=gate,
    )
    changes = {"runs": runs, "runs_store": process.registered, "run_settings": wanted}
    seams = fake_seams(home, turns or FakeTurns(), gate=gate, **changes)
    try:
        yield seams
    finally:
        await runs.close()
        process.close()
        storage.close()
        seams.storage.close()
        for store in (seams.sessions(), seams.responses(), seams.chats()):
            store.close()  # type: ignore[union-attr]


def stored(seams: Seams, run_id: str = "run_1") -> Run:
    run = seams.runs_store().get(run_id)
    assert run is not None
    return run


def log(seams: Seams, run_id: str = "run_1") -> list[Event]:
    return [each.event for each in seams.runs_store().read(run_id)]


async def test_what_ran_is_interrupted_with_what_it_had_said(tmp_path: Path) -> None:
    said = [RunStarted(1), MessageKept(SAID[0]), TextDelta("One mo"), TextDelta("ment")]
    died(tmp_path, at_work(kept(), said))
    async with restarted(tmp_path) as seams:
        assert await recover(seams) == 1
        run = stored(seams)
        assert (run.status, run.output) == (RunStatus.INTERRUPTED, "One moment")
        assert log(seams)[:-1] == said
        assert isinstance(log(seams)[-1], TurnEnded)
        assert await recover(seams) == 0, "it is settled once"


async def test_what_was_to_be_stopped_is_stopped(tmp_path: Path) -> None:
    def prepare(store: RunStore) -> None:
        at_work(kept(), [RunStarted(1)])(store)
        store.request_stop("run_1")

    died(tmp_path, prepare)
    async with restarted(tmp_path, recovery="resume") as seams:
        await recover(seams)
        assert stored(seams).status is RunStatus.CANCELLED


async def test_a_session_gets_the_steps_it_lacks_and_none_twice(tmp_path: Path) -> None:
    said = [RunStarted(1), *map(MessageKept, SAID)]
    died(tmp_path, at_work(kept(session_id="s"), said))
    async with restarted(tmp_path) as seams:
        sessions = seams.sessions()
        assert sessions is not None
        sessions.create_session("s", "api_server")
        sessions.append_message("s", "user", "Hello", run_id="run_1", step=0)
        await recover(seams)
        messages = sessions.get_messages("s")
        assert [(each["role"], each["content"]) for each in messages] == [
            ("user", "Hello"),
            ("assistant", "One moment."),
        ]


async def test_with_resume_the_agent_goes_on_from_the_last_finished_step(tmp_path: Path) -> None:
    said = [RunStarted(1), *map(MessageKept, SAID), ToolStarted("c1", "terminal", {})]
    died(tmp_path, at_work(kept(), said))
    turns = FakeTurns()
    async with restarted(tmp_path, turns, recovery="resume") as seams:
        await recover(seams)
        await until(lambda: stored(seams).status.is_final)
        assert stored(seams).status is RunStatus.COMPLETED
        resumption = turns.calls[0].parameters.resumption
        assert resumption is not None
        assert list(resumption.messages) == SAID
        assert resumption.started == {"c1"}


async def test_tools_of_an_agent_that_reports_no_steps_are_not_run_again(tmp_path: Path) -> None:
    died(tmp_path, at_work(kept(), [RunStarted(1), ToolStarted("c1", "terminal", {})]))
    turns = FakeTurns()
    async with restarted(tmp_path, turns, recovery="resume") as seams:
        await recover(seams)
        assert stored(seams).status is RunStatus.INTERRUPTED
        assert turns.calls == []


async def test_a_run_that_takes_every_process_with_it_is_given_up(tmp_path: Path) -> None:
    died(tmp_path, at_work(kept(), [RunStarted(3)], times=3))
    async with restarted(tmp_path, recovery="resume", max_attempts=3) as seams:
        await recover(seams)
        run = stored(seams)
        assert run.status is RunStatus.FAILED
        assert (run.error or {})["code"] == "worker_lost"


@pytest.mark.parametrize("recovery", ["interrupt", "resume"])
async def test_what_only_waited_in_a_queue_begins_unless_its_client_has_left(
    tmp_path: Path, recovery: str
) -> None:
    def prepare(store: RunStore) -> None:
        store.submit(kept())
        store.submit(kept(id="run_2", disconnect=CANCEL))

    died(tmp_path, prepare)
    async with restarted(tmp_path, recovery=recovery) as seams:
        await recover(seams)
        await until(lambda: stored(seams).status.is_final)
        assert stored(seams).status is RunStatus.COMPLETED
        assert stored(seams, "run_2").status is RunStatus.CANCELLED


def asked(store: RunStore) -> None:
    at_work(kept(session_id="s"), [RunStarted(1), MessageKept(SAID[0])])(store)
    result = TurnResult(text="May I?", outcome=Outcome.ASKING, approvals=(question(),))
    store.pause(NewEvent("run_1", 3, 1.0, TurnPaused(result))).result()


async def test_a_question_waits_on_and_keeps_its_session(tmp_path: Path) -> None:
    died(tmp_path, asked)
    async with restarted(tmp_path) as seams:
        await recover(seams)
        assert stored(seams).status is RunStatus.WAITING_FOR_APPROVAL
        assert seams.runs._turnstile._at_work == {"s": "run_1"}


async def test_a_decision_without_its_consequence_has_it_now(tmp_path: Path) -> None:
    def prepare(store: RunStore) -> None:
        asked(store)
        assert store.decide("appr_1", Decision.ONCE, by="client")

    died(tmp_path, prepare)
    turns = FakeTurns()
    async with restarted(tmp_path, turns) as seams:
        await recover(seams)
        await until(lambda: stored(seams).status.is_final)
        resumption = turns.calls[0].parameters.resumption
        assert resumption is not None
        assert resumption.decisions == {"c1": Decision.ONCE}


async def test_runs_that_nobody_can_read_any_more_keep_the_server_from_nothing(
    tmp_path: Path,
) -> None:
    def prepare(store: RunStore) -> None:
        at_work(kept(kind="of the future"), [RunStarted(1)])(store)
        store.submit(kept(id="run_2", kind="of the future", session_id="s"))
        store.submit(kept(id="run_3", session_id="s"))

    died(tmp_path, prepare)
    async with restarted(tmp_path) as seams:
        await recover(seams)
        assert stored(seams).status is RunStatus.INTERRUPTED
        assert stored(seams, "run_2").status is RunStatus.CANCELLED
        await until(lambda: stored(seams, "run_3").status.is_final)
        assert stored(seams, "run_3").status is RunStatus.COMPLETED
