"""A turn's values: usage adds up, and only one outcome is complete."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.turn import Outcome, TurnResult, Usage

counts = st.integers(0, 1000)
usages = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    total_tokens=counts,
    cached_tokens=counts,
    reasoning_tokens=counts,
)


@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(first: Usage, second: Usage, third: Usage) -> None:
    assert (first + second) + third == third + (second + first)


@given(usages)
def test_no_usage_adds_nothing(usage: Usage) -> None:
    assert usage + Usage() == usage


def test_every_field_of_usage_is_added() -> None:
    one = Usage(
        input_tokens=1, output_tokens=2, total_tokens=3, cached_tokens=4, reasoning_tokens=5
    )
    assert one + one == Usage(
        input_tokens=2, output_tokens=4, total_tokens=6, cached_tokens=8, reasoning_tokens=10
    )


def test_a_turn_is_complete_when_the_model_said_all_it_wanted() -> None:
    complete = [outcome for outcome in Outcome if TurnResult(outcome=outcome).is_complete]
    assert complete == [Outcome.COMPLETED, Outcome.WAITING, Outcome.ASKING]
