"""Asking for runs: what is kept, who sees it, and what becomes of a second one in a session."""

from __future__ import annotations

import pytest

from hermes.core.errors import SessionBusy
from hermes.core.run_ports import RunStore
from hermes.core.runs import (
    CANCEL,
    Disconnect,
    Run,
    RunQuery,
    RunStatus,
    Submitted,
    WhenBusy,
)
from hermes.store.errors import RunExists
from tests.unit.store.run_conformance.acting import (
    begun,
    finish,
    ids,
    interrupting,
    new,
    paused,
    request,
)
from tests.unit.store.run_conformance.engines import Clock


def test_a_submitted_run_is_kept_as_it_was_asked_for(store: RunStore, clock: Clock) -> None:
    asked = new(
        "r1",
        resource_id="resp_1",
        input={"call": {"user_message": "\ud800"}, "request": []},
        metadata={"colour": "red"},
        disconnect=Disconnect(30.0),
        timeout=60.0,
    )
    kept = Run(
        id="r1",
        kind="run",
        owner="anna",
        status=RunStatus.QUEUED,
        session_id="s",
        resource_id="resp_1",
        input={"call": {"user_message": "\ud800"}, "request": []},
        metadata={"colour": "red"},
        disconnect=Disconnect(30.0),
        timeout=60.0,
        attempt=0,
        last_seq=0,
        is_stop_requested=False,
        created_at=clock.time,
        started_at=None,
        finished_at=None,
        output="",
        error=None,
        usage={},
        has_all_events=True,
    )
    assert store.submit(asked) == Submitted(run=kept)
    assert store.get("r1") == kept


@pytest.mark.parametrize("policy", [CANCEL, Disconnect(None), Disconnect(2.5)])
def test_every_policy_for_disconnects_is_kept(store: RunStore, policy: Disconnect) -> None:
    assert store.submit(new("r1", disconnect=policy)).run.disconnect == policy


def test_an_id_cannot_be_used_twice(store: RunStore) -> None:
    store.submit(new("r1"))
    with pytest.raises(RunExists, match="r1"):
        store.submit(new("r1", "elsewhere"))
    kept = store.get("r1")
    assert kept is not None
    assert kept.session_id == "s"


def test_nobody_sees_the_runs_of_another_owner(store: RunStore) -> None:
    store.submit(new("r1", resource_id="resp_1"))
    assert store.get("r1", owner="bert") is None
    assert store.find("resp_1", owner="bert") is None
    assert store.page(RunQuery(owner="bert", limit=10, after="r1")) is None
    page = store.page(RunQuery(owner="bert", limit=10))
    assert page is not None
    assert page.runs == []
    assert store.get("r1", owner="anna") is not None
    assert store.find("resp_1", owner="anna") is not None


def test_a_run_is_found_by_what_it_made_the_newest_first(store: RunStore) -> None:
    store.submit(new("r1", resource_id="resp_1"))
    store.submit(new("r2", resource_id="resp_1"))
    found = store.find("resp_1")
    assert found is not None
    assert found.id == "r2"
    assert store.find("resp_2") is None


def test_pages_are_newest_first_and_know_whether_there_is_more(store: RunStore) -> None:
    for number in range(5):
        store.submit(new(f"r{number}"))
    first = store.page(RunQuery(owner="anna", limit=3))
    assert first is not None
    assert (ids(first.runs), first.has_more) == (["r4", "r3", "r2"], True)
    second = store.page(RunQuery(owner="anna", limit=3, after="r2"))
    assert second is not None
    assert (ids(second.runs), second.has_more) == (["r1", "r0"], False)


def test_pages_can_be_of_one_session_and_of_some_states(store: RunStore) -> None:
    begun(store, "r1", "s")
    store.submit(new("r2", "s"))
    store.submit(new("r3", "t"))
    in_session = store.page(RunQuery(owner="anna", limit=9, session_id="s"))
    queued = store.page(RunQuery(owner="anna", limit=9, statuses=frozenset({RunStatus.QUEUED})))
    both = store.page(
        RunQuery(owner="anna", limit=9, session_id="s", statuses=frozenset({RunStatus.RUNNING}))
    )
    assert in_session is not None
    assert queued is not None
    assert both is not None
    assert ids(in_session.runs) == ["r2", "r1"]
    assert ids(queued.runs) == ["r3", "r2"]
    assert ids(both.runs) == ["r1"]


def test_runs_of_a_busy_session_queue_and_know_their_place(store: RunStore) -> None:
    begun(store, "r1")
    assert store.submit(new("r2")).place == 1
    assert store.submit(new("r3")).place == 2
    assert store.submit(new("elsewhere", "t")).place == 0
    assert [store.place(each) for each in ("r1", "r2", "r3", "unknown")] == [0, 1, 2, 0]
    finish(store, "r1", 1)
    assert [store.place(each) for each in ("r2", "r3")] == [0, 1]


@pytest.mark.parametrize("is_taken_up", [True, False])
def test_a_run_that_does_not_want_to_wait_is_refused_in_a_busy_session(
    store: RunStore, is_taken_up: bool
) -> None:
    store.submit(new("r1"))
    if is_taken_up:
        store.take_up("r1")
    with pytest.raises(SessionBusy) as refused:
        store.submit(new("r2", when_busy=WhenBusy.REJECT))
    assert refused.value.active_run_id == "r1"
    assert store.get("r2") is None


def test_a_run_that_does_not_want_to_wait_need_not_in_a_free_session(store: RunStore) -> None:
    begun(store, "r1")
    finish(store, "r1", 1)
    assert store.submit(new("r2", when_busy=WhenBusy.REJECT)).place == 0
    assert store.submit(new("r3", None, when_busy=WhenBusy.REJECT)).place == 0


def test_an_interrupting_run_names_the_active_one_and_comes_next(store: RunStore) -> None:
    begun(store, "r1")
    store.submit(new("r2"))
    submitted = store.submit(interrupting("r3"))
    assert (submitted.interrupts, submitted.place) == ("r1", 1)
    assert store.place("r2") == 2
    finish(store, "r1", 1)
    assert ids(store.claim(9)) == ["r3"]


def test_an_interrupting_run_interrupts_nobody_in_a_free_session(store: RunStore) -> None:
    assert store.submit(interrupting("r1")).interrupts is None
    assert store.submit(interrupting("r2")).interrupts is None
    assert store.place("r1") == 1


def test_the_last_to_interrupt_comes_first_even_before_a_run_that_was_given_back(
    store: RunStore,
) -> None:
    begun(store, "r1")
    store.submit(interrupting("r2"))
    store.submit(interrupting("r3"))
    store.requeue("r1")
    order = []
    while claimed := store.claim(9):
        order += ids(claimed)
        finish(store, claimed[0].id, 1)
    assert order == ["r3", "r2", "r1"]


def test_the_active_run_of_a_session_is_the_one_that_runs_stops_or_waits(store: RunStore) -> None:
    store.submit(new("r1"))
    assert store.active("s") is None
    store.take_up("r1")
    assert store.active("s") == store.get("r1")
    store.pause(paused("r1", 1, request("a1"))).result(20)
    assert store.active("s") == store.get("r1")
    store.take_up("r1", from_status=RunStatus.WAITING_FOR_APPROVAL)
    store.request_stop("r1")
    assert store.active("s") == store.get("r1")
    finish(store, "r1", 2)
    assert store.active("s") is None


def test_runs_without_a_session_never_wait_for_each_other(store: RunStore) -> None:
    for number in range(3):
        assert store.submit(new(f"r{number}", None)).place == 0
    assert ids(store.claim(9)) == ["r0", "r1", "r2"]
