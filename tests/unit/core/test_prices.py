"""What tokens cost: each kind at its price, and never less than nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.prices import FREE, Price, PriceRule, price_by_rule, priced
from hermes.core.usage import Usage

SONNET = Price(input=3, output=15, cached_input=0.3, cache_write=3.75)
prices = st.builds(
    Price,
    input=st.floats(0, 100),
    output=st.floats(0, 100),
    cached_input=st.none() | st.floats(0, 100),
    cache_write=st.none() | st.floats(0, 100),
)


def used(fresh: int = 0, cached: int = 0, written: int = 0, output: int = 0) -> Usage:
    read = fresh + cached + written
    return Usage(
        input_tokens=read,
        output_tokens=output,
        total_tokens=read + output,
        cached_tokens=cached,
        cache_write_tokens=written,
    )


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (used(fresh=1_000_000), 3.0),
        (used(cached=1_000_000), 0.3),
        (used(written=1_000_000), 3.75),
        (used(output=1_000_000), 15.0),
        (used(fresh=1000, cached=2000, written=3000, output=4000), 0.07485),
    ],
)
def test_each_kind_of_token_has_its_price(usage: Usage, dollars: float) -> None:
    assert SONNET.cost_of(usage) == pytest.approx(dollars)


def test_without_a_price_of_its_own_cached_input_costs_what_input_costs() -> None:
    plain = Price(input=2, output=8)
    assert plain.cost_of(used(cached=500_000, written=500_000)) == pytest.approx(2.0)


def test_thoughts_that_are_billed_but_not_counted_as_output_are_paid_for() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, total_tokens=115)
    assert Price(input=0, output=1_000_000).cost_of(usage) == pytest.approx(105)


@given(prices, *[st.tuples(*[st.integers(0, 10**7)] * 4)] * 2)
def test_the_cost_of_two_calls_is_the_cost_of_both(
    price: Price, first: tuple[int, int, int, int], second: tuple[int, int, int, int]
) -> None:
    one, other = used(*first), used(*second)
    together = price.cost_of(one + other)
    assert together == pytest.approx(price.cost_of(one) + price.cost_of(other))
    assert together >= 0


def test_an_unknown_price_gives_no_cost_and_a_free_one_gives_zero() -> None:
    usage = used(fresh=5)
    assert priced(usage, None).cost_usd is None
    assert priced(usage, FREE).cost_usd == 0.0


def test_the_first_rule_that_fits_holds() -> None:
    rules = (
        PriceRule(pattern="qwen3-coder*", price=SONNET),
        PriceRule(pattern="qwen*", price=FREE),
    )
    assert price_by_rule(rules, "Qwen3-Coder-30B") is SONNET
    assert price_by_rule(rules, "qwen2.5") is FREE
    assert price_by_rule(rules, "llama") is None
