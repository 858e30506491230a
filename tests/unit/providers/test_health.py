"""Who needs a rest, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.health import LONGEST_ASKED, LONGEST_REST, PROBE_SECONDS, Health, Spot

SPOT = Spot("http://localhost:1/v1", "m", "sk-secret")
OTHER = SPOT._replace(model="n")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(clock)


def test_whoever_never_failed_may_be_asked(health: Health) -> None:
    assert health.is_calm
    assert health.admit(SPOT)
    assert health.left(SPOT) == 0.0
    assert health.resting(SPOT) is None


def test_a_rest_keeps_everybody_away_until_it_is_over(health: Health, clock: Clock) -> None:
    health.rest(SPOT, 30, "overloaded")
    assert not health.is_calm
    assert not health.admit(SPOT)
    assert health.admit(OTHER)
    clock.now += 29
    assert health.left(SPOT) == 1.0
    assert not health.admit(SPOT)
    clock.now += 1
    assert health.resting(SPOT) is None
    assert health.admit(SPOT)


def test_after_a_rest_one_caller_goes_first_to_see(health: Health, clock: Clock) -> None:
    health.rest(SPOT, 30, "overloaded")
    clock.now += 30
    assert [health.admit(SPOT) for _ in range(3)] == [True, False, False]
    assert health.answered(SPOT)
    assert health.is_calm
    assert health.admit(SPOT)


def test_a_caller_who_never_comes_back_does_not_keep_the_others_away_for_good(
    health: Health, clock: Clock
) -> None:
    health.rest(SPOT, 30, "overloaded")
    clock.now += 30
    assert health.admit(SPOT)
    clock.now += PROBE_SECONDS
    assert health.admit(SPOT)


def test_an_answer_is_news_only_after_a_failure(health: Health) -> None:
    assert not health.answered(SPOT)
    health.rest(SPOT, 30, "overloaded")
    assert health.answered(SPOT)
    assert not health.answered(SPOT)


def test_rests_grow_while_every_try_fails(health: Health) -> None:
    lengths = []
    for _ in range(8):
        health.rest(SPOT, 30, "overloaded")
        lengths.append(health.left(SPOT))
    assert lengths[:5] == [30, 60, 120, 240, 480]
    assert lengths[5:] == [LONGEST_REST] * 3


@given(st.floats(0, 1e6))
def test_what_the_provider_asks_for_is_kept_to_within_reason(asked: float) -> None:
    clock = Clock()
    health = Health(clock)
    health.rest(SPOT, 30, "rate_limited", retry_after=asked)
    assert health.left(SPOT) == pytest.approx(min(asked, LONGEST_ASKED))


def test_what_nobody_asks_any_more_is_forgotten(health: Health, clock: Clock) -> None:
    health.rest(SPOT, 30, "overloaded")
    clock.now += 10_000
    health.rest(OTHER, 30, "overloaded")
    health.answered(OTHER)
    assert health.is_calm


def test_keys_have_their_turn_one_after_another(health: Health) -> None:
    pool = ("a", "b", "c")
    assert [health.next_turn(pool) for _ in range(5)] == [0, 1, 2, 0, 1]
    assert health.next_turn(("x", "y")) == 0
