"""Who works on what: claims, leases, and what becomes of the runs of the dead."""

from __future__ import annotations

import pytest

from hermes.core.errors import Fenced
from hermes.core.run_ports import RunStore
from hermes.core.runs import RunStatus
from tests.unit.store.run_conformance.acting import (
    append,
    begun,
    deltas,
    done,
    ended,
    finish,
    ids,
    new,
    numbers,
    paused,
    request,
    status,
)
from tests.unit.store.run_conformance.engines import LEASE, Clock, Place


def successor(place: Place, name: str = "w9") -> RunStore:
    """A worker that begins while it knows that all others are gone."""
    store = place.store(is_alone=True)
    store.register(name, lease_seconds=LEASE)
    return store


def test_a_claim_takes_the_oldest_first_and_one_per_session(store: RunStore, clock: Clock) -> None:
    for run_id, session_id in [("r1", "s"), ("r2", "s"), ("r3", "t"), ("r4", None), ("r5", "u")]:
        store.submit(new(run_id, session_id))
    clock.advance(1)
    claimed = store.claim(3)
    assert ids(claimed) == ["r1", "r3", "r4"]
    assert {run.status for run in claimed} == {RunStatus.RUNNING}
    assert {(run.attempt, run.started_at) for run in claimed} == {(1, clock.time)}
    assert ids(store.claim(9)) == ["r5"]
    assert store.claim(9) == []


def test_two_workers_never_claim_the_same_run(store: RunStore, other: RunStore) -> None:
    for number in range(6):
        store.submit(new(f"r{number}", None))
    mine, theirs = store.claim(3), other.claim(9)
    assert ids(mine) + ids(theirs) == [f"r{number}" for number in range(6)]


def test_a_run_can_be_taken_up_once(store: RunStore, other: RunStore) -> None:
    store.submit(new("r1"))
    assert store.take_up("r1") is not None
    assert store.take_up("r1") is None
    assert other.take_up("r1") is None
    assert store.take_up("unknown") is None


def test_a_run_is_not_taken_up_before_those_that_came_first_in_its_session(store: RunStore) -> None:
    store.submit(new("r1"))
    store.submit(new("r2"))
    assert store.take_up("r2") is None
    store.take_up("r1")
    assert store.take_up("r2") is None
    finish(store, "r1", 1)
    assert store.take_up("r2") is not None


def test_a_run_that_waits_for_approval_keeps_its_session_busy_until_it_goes_on(
    store: RunStore, clock: Clock
) -> None:
    began = begun(store, "r1")
    done(store.pause(paused("r1", 1, request("a1"))))
    store.submit(new("r2"))
    assert store.claim(9) == []
    assert store.take_up("r1") is None
    clock.advance(60)
    again = store.take_up("r1", from_status=RunStatus.WAITING_FOR_APPROVAL)
    assert again is not None
    assert (again.status, again.attempt, again.last_seq) == (RunStatus.RUNNING, 2, 1)
    assert again.started_at == began.started_at
    assert store.take_up("r1", from_status=RunStatus.WAITING_FOR_APPROVAL) is None


def test_a_finished_run_cannot_be_taken_up(store: RunStore) -> None:
    begun(store, "r1")
    finish(store, "r1", 1)
    assert store.take_up("r1") is None
    with pytest.raises(ValueError, match="completed"):
        store.take_up("r1", from_status=RunStatus.COMPLETED)


def test_a_run_that_is_given_back_is_the_next_of_its_session(
    store: RunStore, other: RunStore
) -> None:
    begun(store, "r1")
    store.submit(new("r2"))
    store.requeue("r1")
    assert store.place("r2") == 1
    [again] = other.claim(9)
    assert (again.id, again.attempt) == ("r1", 2)
    with pytest.raises(Fenced):
        append(store, *deltas("r1", 1, 1))


def test_only_the_owner_can_give_a_run_back_or_change_its_input(
    store: RunStore, other: RunStore
) -> None:
    begun(store, "r1")
    with pytest.raises(Fenced):
        other.requeue("r1")
    with pytest.raises(Fenced):
        other.set_input("r1", {"a": 2})
    store.set_input("r1", {"a": 1})
    run = store.get("r1")
    assert run is not None
    assert (run.status, run.input) == (RunStatus.RUNNING, {"a": 1})


def test_a_running_run_is_asked_to_stop_until_it_ends(store: RunStore, other: RunStore) -> None:
    begun(store, "r1", "s")
    begun(store, "r2", "t")
    begun(other, "r3", "u")
    assert store.heartbeat() == []
    stopping = other.request_stop("r1")
    assert stopping is not None
    assert (stopping.status, stopping.is_stop_requested) == (RunStatus.STOPPING, True)
    assert store.request_stop("r1") == stopping
    assert store.heartbeat() == ["r1"]
    assert other.heartbeat() == []
    append(store, *deltas("r1", 1, 1))
    finish(store, "r1", 2)
    assert store.heartbeat() == []
    assert store.request_stop("r1") == store.get("r1")
    assert status(store, "r1") is RunStatus.COMPLETED


def test_a_stop_is_remembered_when_a_run_is_given_back(store: RunStore) -> None:
    begun(store, "r1")
    store.request_stop("r1")
    store.requeue("r1")
    assert ids(store.claim(9)) == ["r1"]
    assert store.heartbeat() == ["r1"]


def test_a_name_is_never_used_again(store: RunStore, place: Place) -> None:
    with pytest.raises(ValueError, match="w1"):
        place.store().register("w1", lease_seconds=LEASE)


def test_whoever_has_not_registered_cannot_work(place: Place) -> None:
    with pytest.raises(RuntimeError, match="Register"):
        place.store().claim(1)


def test_who_knows_to_be_alone_takes_over_at_once(store: RunStore, place: Place) -> None:
    begun(store, "r1", "s")
    begun(store, "r2", "t")
    begun(store, "r3", "u")
    begun(store, "r4", "v")
    append(store, *deltas("r1", 1, 2))
    store.request_stop("r2")
    finish(store, "r3", 1)
    done(store.pause(paused("r4", 1, request("a1"))))
    store.submit(new("r5", "w"))
    heir = successor(place)
    taken = heir.orphans()
    assert [(run.id, run.status, run.last_seq) for run in taken] == [
        ("r1", RunStatus.RUNNING, 2),
        ("r2", RunStatus.STOPPING, 0),
    ]
    assert heir.orphans() == []
    append(heir, *deltas("r1", 3, 3))
    finish(heir, "r1", 4)


def test_nothing_that_a_fenced_worker_writes_is_kept(store: RunStore, place: Place) -> None:
    begun(store, "r1", "s")
    begun(store, "r2", "t")
    store.submit(new("r3", "u"))
    heir = successor(place)
    attempts = [
        lambda: append(store, *deltas("r1", 1, 1)),
        lambda: append(store, *deltas("r3", 1, 1)),
        lambda: finish(store, "r1", 1),
        lambda: done(store.pause(paused("r1", 1, request("a1")))),
        lambda: store.requeue("r1"),
        lambda: store.set_input("r1", {}),
        store.heartbeat,
        store.orphans,
        lambda: store.claim(1),
        lambda: store.take_up("r3"),
    ]
    for attempt in attempts:
        with pytest.raises(Fenced):
            attempt()
    assert ids(heir.orphans()) == ["r1", "r2"]
    assert numbers(heir, "r1") == numbers(heir, "r3") == []
    assert status(heir, "r3") is RunStatus.QUEUED
    finish(heir, "r1", 1)


def test_the_runs_of_a_silent_worker_are_orphans_when_its_lease_is_over(
    store: RunStore, other: RunStore, clock: Clock
) -> None:
    begun(store, "r1")
    clock.advance(LEASE / 2)
    other.heartbeat()
    assert other.orphans() == []
    clock.advance(LEASE / 2)
    other.heartbeat()
    assert ids(other.orphans()) == ["r1"]
    with pytest.raises(Fenced):
        store.heartbeat()


def test_a_worker_that_says_it_is_there_keeps_its_runs(
    store: RunStore, other: RunStore, clock: Clock
) -> None:
    begun(store, "r1")
    for _ in range(5):
        clock.advance(LEASE - 1)
        store.heartbeat()
        other.heartbeat()
        assert other.orphans() == []
    append(store, *deltas("r1", 1, 1))


def test_who_has_just_come_does_not_declare_the_others_dead(
    store: RunStore, place: Place, clock: Clock
) -> None:
    begun(store, "r1")
    clock.advance(2 * LEASE)
    newcomer = place.store()
    newcomer.register("w2", lease_seconds=LEASE)
    assert newcomer.orphans() == []
    store.heartbeat()
    append(store, *deltas("r1", 1, 1))
    clock.advance(LEASE)
    newcomer.heartbeat()
    assert ids(newcomer.orphans()) == ["r1"]


def test_an_orphan_is_resumed_as_one_more_attempt(store: RunStore, place: Place) -> None:
    begun(store, "r1")
    heir = successor(place)
    assert heir.take_up("r1", from_status=RunStatus.RUNNING) is None
    [orphan] = heir.orphans()
    resumed = heir.take_up("r1", from_status=RunStatus.RUNNING)
    assert resumed is not None
    assert (orphan.attempt, resumed.attempt) == (1, 2)


def test_the_end_of_an_orphan_is_said_by_its_heir_alone(store: RunStore, place: Place) -> None:
    begun(store, "r1")
    heir = successor(place)
    heir.orphans()
    done(heir.finish(RunStatus.INTERRUPTED, ended("r1", 1)))
    with pytest.raises(Fenced):
        finish(store, "r1", 1)
    assert status(heir, "r1") is RunStatus.INTERRUPTED
