"""Questions to people: asked once, decided once, and remembered as long as was said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes.core.approvals import Decision, Grant
from hermes.core.events import ApprovalDecided, TurnEnded, TurnPaused
from hermes.core.run_ports import RunStore, Waiting
from hermes.core.runs import RunStatus
from hermes.core.turn import Outcome, TurnResult
from tests.unit.store.run_conformance.acting import (
    append,
    begun,
    deltas,
    done,
    events,
    finish,
    new,
    numbers,
    paused,
    request,
    status,
)
from tests.unit.store.run_conformance.engines import LEASE, Clock, Place

WAITING = RunStatus.WAITING_FOR_APPROVAL


def asked(store: RunStore, run_id: str = "r1", *approval_ids: str, **more: str | None) -> None:
    """A run that waits for decisions."""
    begun(store, run_id, more.pop("session_id", "s"), **more)
    requests = [request(approval_id) for approval_id in approval_ids or ("a1",)]
    done(store.pause(paused(run_id, 1, *requests)))


def test_a_paused_run_waits_with_what_it_asked_and_nobody_owns_it(
    store: RunStore, other: RunStore
) -> None:
    asked(store, "r1", "a1", "a2")
    run = store.get("r1")
    assert run is not None
    assert (run.status, run.output, run.finished_at) == (WAITING, "May I?", None)
    assert other.waiting("r1") == Waiting(run=run, requests=(request("a1"), request("a2")))
    [event] = events(store, "r1")
    assert isinstance(event, TurnPaused)
    assert event.result.approvals == (request("a1"), request("a2"))
    assert other.take_up("r1", from_status=WAITING) is not None


def test_saying_the_pause_again_changes_nothing(store: RunStore) -> None:
    asked(store)
    done(store.pause(paused("r1", 1, request("a1"))))
    waiting = store.waiting("r1")
    assert waiting is not None
    assert len(waiting.requests) == 1
    assert numbers(store, "r1") == [1]


def test_a_run_that_does_not_wait_waits_for_nothing(store: RunStore) -> None:
    begun(store, "r1")
    assert store.waiting("r1") is None
    assert store.waiting("unknown") is None


def test_the_first_decision_counts_and_no_other(store: RunStore, other: RunStore) -> None:
    asked(store)
    assert store.decide("a1", Decision.ONCE, by="client")
    assert not other.decide("a1", Decision.DENY, by="client")
    assert not store.decide("unknown", Decision.ONCE, by="client")
    assert store.decisions("r1") == {"call_a1": Decision.ONCE}


def test_of_many_decisions_at_once_one_counts(store: RunStore, other: RunStore) -> None:
    asked(store)
    with ThreadPoolExecutor(8) as pool:
        counted = list(
            pool.map(
                lambda number: (store, other)[number % 2].decide(
                    "a1", Decision.ALWAYS, by="client"
                ),
                range(16),
            )
        )
    assert counted.count(True) == 1
    assert len(store.grants("anna", None)) == 1


def test_what_is_decided_is_not_asked_any_more(store: RunStore) -> None:
    asked(store, "r1", "a1", "a2")
    store.decide("a1", Decision.DENY, by="client")
    waiting = store.waiting("r1")
    assert waiting is not None
    assert waiting.requests == (request("a2"),)
    assert store.decisions("r1") == {"call_a1": Decision.DENY}


def test_what_nobody_decided_before_the_run_went_on_is_denied(store: RunStore) -> None:
    asked(store)
    store.take_up("r1", from_status=WAITING)
    assert not store.decide("a1", Decision.ONCE, by="client")
    assert store.decisions("r1") == {"call_a1": Decision.DENY}
    done(store.pause(paused("r1", 2, request("a2"))))
    waiting = store.waiting("r1")
    assert waiting is not None
    assert waiting.requests == (request("a2"),)


def test_a_run_can_ask_again_and_all_its_decisions_are_known(store: RunStore) -> None:
    asked(store)
    store.decide("a1", Decision.ONCE, by="client")
    store.take_up("r1", from_status=WAITING)
    append(store, *deltas("r1", 2, 2))
    done(store.pause(paused("r1", 3, request("a2", code="FGHJK"))))
    waiting = store.waiting("r1")
    assert waiting is not None
    assert waiting.requests == (request("a2", code="FGHJK"),)
    store.decide("a2", Decision.DENY, by="timeout")
    assert store.decisions("r1") == {"call_a1": Decision.ONCE, "call_a2": Decision.DENY}


def test_a_run_is_found_by_its_code_also_when_it_was_decided(store: RunStore) -> None:
    asked(store, "r1", "a1", "a2")
    found = store.find_waiting(code="ABCDE", owner="anna")
    assert found == Waiting(
        run=store.get("r1"),  # type: ignore[arg-type]
        requests=(request("a1"), request("a2")),
    )
    store.decide("a1", Decision.ONCE, by="client")
    store.request_stop("r1")
    later = store.find_waiting(code="ABCDE", owner="anna")
    assert later is not None
    assert later.run.status is RunStatus.CANCELLED
    assert len(later.requests) == 2
    assert store.find_waiting(code="FGHJK", owner="anna") is None


def test_a_code_is_of_no_use_to_others(store: RunStore) -> None:
    asked(store)
    assert store.find_waiting(code="ABCDE", owner="bert") is None


def test_a_code_that_comes_up_again_means_the_newest_run(store: RunStore) -> None:
    asked(store, "r1", "a1", session_id="s")
    asked(store, "r2", "a2", session_id="t")
    found = store.find_waiting(code="ABCDE", owner="anna")
    assert found is not None
    assert (found.run.id, found.requests) == ("r2", (request("a2"),))


def test_questions_that_nobody_answered_in_time_are_found_with_their_runs(
    store: RunStore, clock: Clock
) -> None:
    begun(store, "r1")
    late, later = request("a1", expires_at=500.0), request("a2", expires_at=600.0)
    done(store.pause(paused("r1", 1, late, later)))
    assert store.expired_approvals(499.0) == []
    run = store.get("r1")
    assert run is not None
    assert store.expired_approvals(500.0) == [Waiting(run=run, requests=(late,))]
    store.decide("a1", Decision.DENY, by="timeout")
    assert store.expired_approvals(599.0) == []
    assert store.expired_approvals(600.0) == [Waiting(run=run, requests=(later,))]


def test_a_run_that_was_decided_but_never_went_on_is_found(store: RunStore) -> None:
    asked(store)
    assert store.expired_approvals(0.0) == []
    store.decide("a1", Decision.ONCE, by="client")
    [waiting] = store.expired_approvals(0.0)
    assert (waiting.run.id, waiting.requests) == ("r1", ())
    store.take_up("r1", from_status=WAITING)
    assert store.expired_approvals(0.0) == []


@pytest.mark.parametrize(
    ("decision", "in_this", "in_another"),
    [
        (Decision.ONCE, (), ()),
        (Decision.DENY, (), ()),
        (Decision.SESSION, (Grant("terminal", "rm -r build", "s"),), ()),
        (
            Decision.ALWAYS,
            (Grant("terminal", "rm -r build"),),
            (Grant("terminal", "rm -r build"),),
        ),
    ],
)
def test_a_lasting_decision_is_a_grant_for_as_long_as_was_said(
    store: RunStore,
    decision: Decision,
    in_this: tuple[Grant, ...],
    in_another: tuple[Grant, ...],
) -> None:
    asked(store)
    store.decide("a1", decision, by="client")
    assert store.grants("anna", "s") == in_this
    assert store.grants("anna", "t") == store.grants("anna", None) == in_another
    assert store.grants("bert", "s") == ()


def test_approved_for_the_session_means_once_where_there_is_none(store: RunStore) -> None:
    begun(store, "r1", None)
    done(store.pause(paused("r1", 1, request("a1"))))
    assert store.decide("a1", Decision.SESSION, by="client")
    assert store.grants("anna", None) == ()
    assert store.decisions("r1") == {"call_a1": Decision.SESSION}


def test_grants_of_a_session_go_with_it(store: RunStore) -> None:
    asked(store)
    store.decide("a1", Decision.SESSION, by="client")
    store.take_up("r1", from_status=WAITING)
    finish(store, "r1", 2)
    assert store.delete_session("s") == 1
    assert store.grants("anna", "s") == ()


def test_stopping_a_waiting_run_ends_it_and_denies_its_question(
    store: RunStore, clock: Clock
) -> None:
    asked(store)
    stopped = store.request_stop("r1")
    assert stopped is not None
    assert (stopped.status, stopped.is_stop_requested) == (RunStatus.CANCELLED, True)
    assert (stopped.finished_at, stopped.last_seq) == (clock.time, 3)
    assert stopped.error == {
        "code": "cancelled",
        "message": "Stopped while it waited for approval.",
    }
    assert store.decisions("r1") == {"call_a1": Decision.DENY}
    assert not store.decide("a1", Decision.ALWAYS, by="client")
    decided, ended = events(store, "r1")[-2:]
    assert decided == ApprovalDecided("a1", "call_a1", Decision.DENY, "stopped")
    assert ended == TurnEnded(
        TurnResult(
            text="May I?",
            outcome=Outcome.INTERRUPTED,
            error="Stopped while it waited for approval.",
            session_id="s",
        ),
        "cancelled",
    )
    assert store.take_up("r1", from_status=WAITING) is None


def test_stopping_a_queued_run_ends_it_and_lets_the_next_one_go(store: RunStore) -> None:
    store.submit(new("r1"))
    store.submit(new("r2"))
    append(store, *deltas("r1", 1, 1))
    stopped = store.request_stop("r1")
    assert stopped is not None
    assert (stopped.status, stopped.attempt, stopped.last_seq) == (RunStatus.CANCELLED, 0, 2)
    last = events(store, "r1")[-1]
    assert isinstance(last, TurnEnded)
    assert (last.status, last.result.error) == ("cancelled", "Stopped before it began.")
    assert store.request_stop("r1") == stopped
    assert store.place("r2") == 0
    assert store.request_stop("unknown") is None


def test_a_question_outlives_the_process_that_asked(store: RunStore, place: Place) -> None:
    asked(store)
    heir = place.store(is_alone=True)
    heir.register("w9", lease_seconds=LEASE)
    assert heir.orphans() == []
    assert status(heir, "r1") is WAITING
    assert heir.decide("a1", Decision.ONCE, by="client")
    resumed = heir.take_up("r1", from_status=WAITING)
    assert resumed is not None
    append(heir, *deltas("r1", 2, 2))
