"""What is said to an agent while it works is heard, or refused; never lost."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.run_link import Steer
from hermes.runs.steering import Steering

WAIT = 5.0


@given(st.lists(st.sampled_from(["offer", "take", "take_or_end", "end"]), max_size=40))
def test_what_was_accepted_is_taken_once_and_in_order(moves: list[str]) -> None:
    steering = Steering(lambda _steer: None)
    accepted: list[Steer] = []
    taken: list[Steer] = []
    for number, move in enumerate(moves):
        if move == "offer":
            steer = Steer(str(number), "left")
            if steering.offer(steer):
                accepted.append(steer)
        elif move == "take":
            taken += steering.take()
        elif move == "take_or_end":
            taken += steering.take_or_end()
        else:
            taken += steering.end()
    assert taken + steering.end() == accepted


@given(st.lists(st.booleans(), max_size=20))
def test_nothing_is_accepted_after_the_agent_found_nothing(offers: list[bool]) -> None:
    steering = Steering(lambda _steer: None)
    for offers_first in offers:
        if offers_first:
            assert steering.offer(Steer("1", "left"))
            assert len(steering.take_or_end()) == 1
    assert steering.take_or_end() == []
    assert not steering.offer(Steer("2", "too late"))


def test_two_threads_agree_about_what_was_heard() -> None:
    steering = Steering(lambda _steer: None)
    accepted: list[Steer] = []
    taken: list[Steer] = []
    start = threading.Barrier(2)

    def say() -> None:
        start.wait(WAIT)
        for number in range(2000):
            steer = Steer(str(number), "left")
            if not steering.offer(steer):
                return
            accepted.append(steer)

    talker = threading.Thread(target=say)
    talker.start()
    start.wait(WAIT)
    while steers := steering.take_or_end():
        taken += steers
    talker.join(WAIT)
    assert taken == accepted
