"""What is too old or too much goes; what is left says so, and nothing that runs is touched."""

from __future__ import annotations

import pytest

from hermes.core.approvals import Decision
from hermes.core.errors import EventsGone
from hermes.core.events import Event, ReasoningDelta, RunStarted, TextDelta, ToolProgress
from hermes.core.run_ports import KeptAnswer, NewEvent, RunStore
from hermes.core.runs import RunRetention, RunStatus
from tests.unit.store.run_conformance.acting import (
    append,
    begun,
    deltas,
    done,
    finish,
    keyed,
    numbers,
    paused,
    request,
)
from tests.unit.store.run_conformance.engines import LEASE, Clock, Place

DAY = 86_400.0


def registered(place: Place, retention: RunRetention) -> RunStore:
    store = place.store(retention=retention)
    store.register("w1", lease_seconds=LEASE)
    return store


def finished(store: RunStore, run_id: str, *said: Event) -> None:
    """A run with an own session, a beginning, what was said, and an end."""
    begun(store, run_id, f"session of {run_id}")
    log: list[Event] = [RunStarted(1), *said]
    append(store, *(NewEvent(run_id, seq, 1.0, event) for seq, event in enumerate(log, start=1)))
    finish(store, run_id, len(log) + 1)


def test_deltas_of_a_finished_run_go_after_a_day(store: RunStore, clock: Clock) -> None:
    finished(store, "r1", TextDelta("a"), RunStarted(2), ReasoningDelta("b"), ToolProgress("c"))
    store.sweep(clock.time + DAY - 1)
    assert numbers(store, "r1") == [1, 2, 3, 4, 5, 6]
    store.sweep(clock.time + DAY)
    run = store.get("r1")
    assert run is not None
    assert (run.has_all_events, run.output, run.last_seq) == (False, "done", 6)


def test_a_reader_of_what_was_deleted_is_told_where_to_go_on(store: RunStore, clock: Clock) -> None:
    finished(store, "r1", TextDelta("a"), RunStarted(2), TextDelta("b"), RunStarted(3))
    store.sweep(clock.time + DAY)
    for after in (0, 1, 2, 3):
        with pytest.raises(EventsGone) as gone:
            store.read("r1", after=after, limit=1)
        assert gone.value.extra == {"first_seq": 5}
    assert numbers(store, "r1", after=4) == [5, 6]
    assert numbers(store, "r1", after=6) == []


def test_a_run_without_deltas_stays_whole(store: RunStore, clock: Clock) -> None:
    finished(store, "r1", RunStarted(2))
    store.sweep(clock.time + DAY)
    run = store.get("r1")
    assert run is not None
    assert run.has_all_events
    assert numbers(store, "r1") == [1, 2, 3]


def test_a_long_log_goes_in_pieces_and_completely(store: RunStore, clock: Clock) -> None:
    finished(store, "r1", *(TextDelta("x") for _ in range(4500)))
    store.sweep(clock.time + DAY)
    assert numbers(store, "r1", after=4501) == [4502]
    with pytest.raises(EventsGone):
        store.read("r1")
    store.sweep(clock.time + 30 * DAY)
    assert store.get("r1") is None


def test_finished_runs_go_after_a_month_with_all_that_belongs_to_them(
    store: RunStore, clock: Clock
) -> None:
    store.submit(keyed("r1", "k"))
    store.take_up("r1")
    done(store.pause(paused("r1", 1, request("a1"))))
    store.decide("a1", Decision.ONCE, by="client")
    store.take_up("r1", from_status=RunStatus.WAITING_FOR_APPROVAL)
    finish(store, "r1", 2)
    store.sweep(clock.time + 30 * DAY - 1)
    assert store.get("r1") is not None
    store.sweep(clock.time + 30 * DAY)
    assert store.get("r1") is None
    assert store.read("r1") == []
    assert store.find_waiting(code="ABCDE", owner="anna") is None
    assert store.decisions("r1") == {}


def test_runs_that_are_not_over_are_never_swept(store: RunStore, clock: Clock) -> None:
    begun(store, "r1", "s")
    append(store, *deltas("r1", 1, 3))
    begun(store, "r2", "t")
    append(store, *deltas("r2", 1, 1))
    done(store.pause(paused("r2", 2, request("a1"))))
    store.sweep(clock.time + 1000 * DAY)
    assert numbers(store, "r1") == [1, 2, 3]
    assert numbers(store, "r2") == [1, 2]


def test_old_keys_go_and_young_ones_stay(store: RunStore, clock: Clock) -> None:
    answer = KeptAnswer(status=200, headers={}, body=b"")
    store.keep_answer("anna", "x", "old", "body", answer)
    clock.advance(DAY / 2)
    store.keep_answer("anna", "x", "young", "body", answer)
    store.sweep(clock.time + DAY / 2)
    assert store.kept_answer("anna", "x", "old", "body") is None
    assert store.kept_answer("anna", "x", "young", "body") == answer


def test_too_much_makes_the_oldest_deltas_go_first(place: Place, clock: Clock) -> None:
    writing = registered(place, RunRetention())
    for number in range(4):
        finished(writing, f"r{number}", *(TextDelta("x" * 500) for _ in range(500)))
        clock.advance(1)
    # Four logs of about 260 kB, and room for two of them.
    sweeping = place.store(retention=RunRetention(max_bytes=750_000))
    sweeping.sweep(clock.time)
    kept = [writing.get(f"r{number}") for number in range(4)]
    assert [run.has_all_events if run else None for run in kept] == [False, False, True, True]


def test_too_much_without_deltas_makes_the_oldest_runs_go(place: Place, clock: Clock) -> None:
    writing = registered(place, RunRetention())
    for number in range(4):
        finished(writing, f"r{number}", *(RunStarted(10**300) for _ in range(800)))
        clock.advance(1)
    begun(writing, "running")
    sweeping = place.store(retention=RunRetention(max_bytes=700_000))
    sweeping.sweep(clock.time)
    kept = [each for each in ("r0", "r1", "r2", "r3", "running") if writing.get(each)]
    assert kept[-2:] == ["r3", "running"]
    assert "r0" not in kept
    place.store(retention=RunRetention(max_bytes=0)).sweep(clock.time)
    assert writing.get("r3") is None
    assert writing.get("running") is not None


def test_sweeping_an_empty_store_does_nothing(store: RunStore, clock: Clock) -> None:
    store.sweep(clock.time)
    store.heartbeat()
