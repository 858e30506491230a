"""How long is waited before a provider is asked again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.patience import Patience


@given(st.integers(1, 30), st.booleans())
def test_pauses_grow_with_some_chance_in_them_and_have_an_end(
    attempt: int, has_alternative: bool
) -> None:
    patience = Patience(first_wait=1.0, longest_wait=20.0, worth_waiting=3.0)
    pause = patience.pause(attempt, None, has_alternative=has_alternative)
    assert pause is not None
    longest = 3.0 if has_alternative else 20.0
    expected = 2.0 ** (attempt - 1)
    assert min(0.75 * expected, longest) <= pause <= min(1.25 * expected, longest)


def test_what_the_provider_asks_for_is_waited_for_exactly() -> None:
    assert Patience().pause(1, 20.0, has_alternative=False) == 20.0
    assert Patience().pause(2, 0.0, has_alternative=True) == 0.0


def test_too_long_a_wait_is_not_begun() -> None:
    assert Patience().pause(1, 61.0, has_alternative=False) is None


def test_somebody_else_is_asked_rather_than_waited_for_long() -> None:
    assert Patience().pause(1, 6.0, has_alternative=True) is None
