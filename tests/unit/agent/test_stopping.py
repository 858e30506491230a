"""One signal stops a turn for good, and the first reason is the one that counts."""

from __future__ import annotations

import threading

from hermes.agent.stopping import StopSignal

WAIT = 5.0


def test_a_stop_wakes_the_waiting_and_cuts_the_model_call() -> None:
    stop = StopSignal()
    cut = threading.Event()
    stopper = threading.Thread(target=stop.set, args=("Enough",))
    with stop.scope.attach(cut.set):
        stopper.start()
        assert stop.wait(WAIT)
        stopper.join(WAIT)
    assert cut.is_set()
    assert (stop.is_set(), stop.reason) == (True, "Enough")


def test_the_first_reason_stays() -> None:
    stop = StopSignal()
    stop.set("first")
    stop.set("second")
    assert stop.reason == "first"


def test_without_a_stop_waiting_ends_by_itself() -> None:
    assert StopSignal().wait(0) is False
