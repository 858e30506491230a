"""Usage adds up in any order, never makes up a cost, and says when one is not whole."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.usage import Usage

counts = st.integers(0, 1000)
usages = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    total_tokens=counts,
    cached_tokens=counts,
    cache_write_tokens=counts,
    reasoning_tokens=counts,
    # Eighths add up exactly, in any order.
    cost_usd=st.none() | st.integers(0, 800).map(lambda eighths: eighths / 8),
    is_estimated=st.booleans(),
)


@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(first: Usage, second: Usage, third: Usage) -> None:
    assert (first + second) + third == third + (second + first) == first + (second + third)


@given(usages)
def test_no_usage_adds_nothing(usage: Usage) -> None:
    assert usage + Usage() == usage


def test_every_number_is_added() -> None:
    one = Usage(
        input_tokens=1,
        output_tokens=2,
        total_tokens=3,
        cached_tokens=4,
        cache_write_tokens=5,
        reasoning_tokens=6,
        cost_usd=0.5,
    )
    assert one + one == Usage(
        input_tokens=2,
        output_tokens=4,
        total_tokens=6,
        cached_tokens=8,
        cache_write_tokens=10,
        reasoning_tokens=12,
        cost_usd=1.0,
    )


def test_what_nobody_knows_stays_unknown() -> None:
    unknown = Usage(total_tokens=5)
    assert (unknown + unknown).cost_usd is None
    assert not (unknown + unknown).is_cost_partial
    assert (unknown + unknown).extras == {}


def test_a_sum_of_known_and_unknown_costs_says_that_it_is_not_whole() -> None:
    both = Usage(total_tokens=5, cost_usd=0.25) + Usage(total_tokens=5)
    assert both.extras == {"cost_usd": 0.25, "is_cost_partial": True}


def test_a_cost_of_nothing_is_known() -> None:
    assert Usage(total_tokens=5, cost_usd=0.0).extras == {"cost_usd": 0.0}


@given(usages)
def test_only_the_tokens_and_what_is_known_is_shown(usage: Usage) -> None:
    shown = usage.as_dict()
    assert ("cost_usd" in shown) == (usage.cost_usd is not None)
    assert replace(usage, **{name: shown[name] for name in shown if name != "cost_usd"}) == usage
