"""The log of a run: dense, append-only, the same for every reader, and only its owner's."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.errors import Fenced
from hermes.core.events import Event, FilesChanged, MessageKept, RunQueued, RunStarted, TurnEnded
from hermes.core.ids import new_id
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import LoggedEvent, RunStatus
from hermes.core.turn import Failure, Outcome, TurnResult, Usage
from hermes.store.errors import LogGap
from tests.unit.core import values
from tests.unit.store.run_conformance.acting import (
    append,
    begun,
    deltas,
    done,
    ended,
    events,
    finish,
    new,
    numbers,
    paused,
    request,
    status,
)
from tests.unit.store.run_conformance.engines import Clock


def test_what_was_appended_is_read_in_order(store: RunStore) -> None:
    begun(store, "r1")
    first = NewEvent("r1", 1, 12.5, RunStarted(1))
    append(store, first, *deltas("r1", 2, 4))
    append(store, *deltas("r1", 5, 6))
    assert store.read("r1")[0] == LoggedEvent(1, 12.5, RunStarted(1))
    assert numbers(store, "r1") == [1, 2, 3, 4, 5, 6]
    run = store.get("r1")
    assert run is not None
    assert run.last_seq == 6


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values.lasting_events | values.passing_events, min_size=1, max_size=8))
def test_every_event_comes_back_as_it_was(store: RunStore, said: list[Event]) -> None:
    run_id = new_id("run_")
    begun(store, run_id, None)
    append(store, *(NewEvent(run_id, seq, 1.0, event) for seq, event in enumerate(said, start=1)))
    assert events(store, run_id) == said


def test_a_reader_gets_pages_and_nothing_twice(store: RunStore) -> None:
    begun(store, "r1")
    append(store, *deltas("r1", 1, 5))
    assert [logged.seq for logged in store.read("r1", after=1, limit=3)] == [2, 3, 4]
    assert numbers(store, "r1", after=4) == [5]
    assert numbers(store, "r1", after=5) == []
    assert numbers(store, "r1", after=99) == []
    assert numbers(store, "unknown") == []


def test_events_of_some_kinds_are_read_whatever_lies_between(store: RunStore) -> None:
    begun(store, "r1")
    append(store, NewEvent("r1", 1, 1.0, RunStarted(1)), *deltas("r1", 2, 3))
    append(store, NewEvent("r1", 4, 2.0, FilesChanged("call", (), "/w")))
    assert store.read_kinds("r1", ["files.changed", "run.started"]) == [
        LoggedEvent(1, 1.0, RunStarted(1)),
        LoggedEvent(4, 2.0, FilesChanged("call", (), "/w")),
    ]
    assert store.read_kinds("r1", []) == store.read_kinds("unknown", ["run.started"]) == []


def test_logs_do_not_mix(store: RunStore) -> None:
    begun(store, "r1", "s")
    begun(store, "r2", "t")
    append(store, *deltas("r1", 1, 2), *deltas("r2", 1, 1), *deltas("r1", 3, 3))
    assert numbers(store, "r1") == [1, 2, 3]
    assert numbers(store, "r2") == [1]


def test_an_event_that_is_there_already_is_left_as_it_is(store: RunStore) -> None:
    begun(store, "r1")
    append(store, *deltas("r1", 1, 2))
    append(store, NewEvent("r1", 2, 9.0, RunStarted(7)), *deltas("r1", 3, 3))
    assert store.read("r1") == [
        LoggedEvent(each.seq, each.at, each.event) for each in deltas("r1", 1, 3)
    ]


def test_a_hole_is_refused_with_everything_beside_it(store: RunStore) -> None:
    begun(store, "r1", "s")
    begun(store, "r2", "t")
    with pytest.raises(LogGap):
        append(store, *deltas("r2", 1, 2), *deltas("r1", 2, 2))
    assert numbers(store, "r1") == numbers(store, "r2") == []
    with pytest.raises(LogGap):
        done(store.finish(RunStatus.COMPLETED, ended("r1", 2)))
    with pytest.raises(LogGap):
        done(store.pause(paused("r1", 2, request("a1"))))
    assert status(store, "r1") is RunStatus.RUNNING


def test_appended_batches_keep_their_order_without_waiting(store: RunStore) -> None:
    begun(store, "r1")
    answers = [store.append(deltas("r1", seq, seq)) for seq in range(1, 101)]
    done(store.finish(RunStatus.COMPLETED, ended("r1", 101)))
    assert all(answer.done() for answer in answers)
    assert numbers(store, "r1") == list(range(1, 102))


def test_a_queued_run_can_say_that_it_waits(store: RunStore) -> None:
    store.submit(new("r1"))
    append(store, NewEvent("r1", 1, 1.0, RunQueued(0)))
    run = store.take_up("r1")
    assert run is not None
    assert run.last_seq == 1


def test_only_the_owner_of_a_run_adds_to_its_log(store: RunStore, other: RunStore) -> None:
    begun(store, "r1", "s")
    begun(other, "r2", "t")
    with pytest.raises(Fenced):
        append(other, *deltas("r2", 1, 1), *deltas("r1", 1, 1))
    with pytest.raises(Fenced):
        append(other, *deltas("unknown", 1, 1))
    assert numbers(store, "r1") == numbers(store, "r2") == []


def test_nothing_follows_the_end(store: RunStore) -> None:
    begun(store, "r1")
    finish(store, "r1", 1)
    with pytest.raises(Fenced):
        append(store, *deltas("r1", 2, 2))
    with pytest.raises(Fenced):
        done(store.finish(RunStatus.FAILED, ended("r1", 2)))
    assert numbers(store, "r1") == [1]
    assert status(store, "r1") is RunStatus.COMPLETED


def test_a_finished_run_has_its_state_its_answer_and_its_end(store: RunStore, clock: Clock) -> None:
    began = begun(store, "r1", input={"call": {"a": 1}, "request": {"input": "x"}})
    clock.advance(5)
    result = TurnResult(
        text="done",
        usage=Usage(input_tokens=3, output_tokens=4, total_tokens=7),
        messages=({"role": "assistant", "content": "done"},),
    )
    append(store, NewEvent("r1", 1, 1.0, MessageKept({"role": "assistant", "content": "done"})))
    done(store.finish(RunStatus.COMPLETED, ended("r1", 2, result)))
    run = store.get("r1")
    assert run is not None
    assert (run.status, run.output, run.error) == (RunStatus.COMPLETED, "done", None)
    assert (run.started_at, run.finished_at) == (began.started_at, clock.time)
    assert run.usage["total_tokens"] == 7
    assert run.input == {"call": {"a": 1}}
    last = store.read("r1")[-1].event
    assert isinstance(last, TurnEnded)
    assert last.result.messages == ()


@pytest.mark.parametrize(
    ("state", "result", "error"),
    [
        (
            RunStatus.FAILED,
            TurnResult(outcome=Outcome.FAILED, error="Slow down.", failure=Failure(code="limited")),
            {"code": "limited", "message": "Slow down."},
        ),
        (
            RunStatus.FAILED,
            TurnResult(outcome=Outcome.FAILED, error="No."),
            {"code": "agent_incomplete", "message": "No."},
        ),
        (
            RunStatus.CANCELLED,
            TurnResult(outcome=Outcome.INTERRUPTED, error="Stopped."),
            {"code": "cancelled", "message": "Stopped."},
        ),
        (
            RunStatus.INTERRUPTED,
            TurnResult(outcome=Outcome.INTERRUPTED, error="The server went away."),
            {"code": "interrupted", "message": "The server went away."},
        ),
    ],
)
def test_a_run_that_ended_otherwise_says_why(
    store: RunStore, state: RunStatus, result: TurnResult, error: dict[str, str]
) -> None:
    begun(store, "r1")
    done(store.finish(state, ended("r1", 1, result)))
    run = store.get("r1")
    assert run is not None
    assert (run.status, run.error) == (state, error)


def test_saying_the_end_again_changes_nothing(store: RunStore) -> None:
    begun(store, "r1")
    finish(store, "r1", 1)
    before = store.get("r1")
    finish(store, "r1", 1)
    assert store.get("r1") == before
    assert numbers(store, "r1") == [1]


def test_an_end_is_a_final_state_and_a_last_event(store: RunStore) -> None:
    begun(store, "r1")
    with pytest.raises(ValueError, match="final state"):
        store.finish(RunStatus.RUNNING, ended("r1", 1))
    with pytest.raises(ValueError, match="final state"):
        store.finish(RunStatus.COMPLETED, deltas("r1", 1, 1)[0])
    with pytest.raises(ValueError, match="TurnPaused"):
        store.pause(ended("r1", 1))


def test_a_run_that_nobody_took_up_can_neither_end_nor_pause(store: RunStore) -> None:
    store.submit(new("r1"))
    with pytest.raises(Fenced):
        done(store.finish(RunStatus.COMPLETED, ended("r1", 1)))
    with pytest.raises(Fenced):
        done(store.pause(paused("r1", 1, request("a1"))))
    assert status(store, "r1") is RunStatus.QUEUED


def test_the_log_of_a_session_goes_when_the_session_does(store: RunStore) -> None:
    begun(store, "r1")
    append(store, *deltas("r1", 1, 3))
    finish(store, "r1", 4)
    begun(store, "r2")
    begun(store, "r3", "t")
    finish(store, "r3", 1)
    assert store.delete_session("s") == 1
    assert store.get("r1") is None
    assert store.read("r1") == []
    assert store.get("r2") is not None
    assert store.get("r3") is not None
