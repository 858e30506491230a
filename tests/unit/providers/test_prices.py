"""The list of prices: by seller and model, never by guessing; the user's word wins."""

from __future__ import annotations

import pytest

from hermes.core.prices import FREE, Price, PriceRule
from hermes.core.usage import Usage
from hermes.providers.prices import PRICES, listed_price, with_cost
from hermes.settings.model import ProviderSettings

OPENAI = "https://api.openai.com/v1"
USED = Usage(input_tokens=1000, output_tokens=1000, total_tokens=2000)


@pytest.mark.parametrize(
    ("base_url", "model", "listed"),
    [
        (OPENAI, "gpt-5-mini", ("api.openai.com", "gpt-5-mini")),
        (OPENAI, "gpt-5-mini-2025-08-07", ("api.openai.com", "gpt-5-mini")),
        (OPENAI, "gpt-5", ("api.openai.com", "gpt-5")),
        ("https://api.anthropic.com", "claude-sonnet-4-5-20250929", None),
        ("https://api.anthropic.com", "claude-3-5-haiku-latest", None),
        ("https://api.deepseek.com/v1", "deepseek-chat", None),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "models/gemini-2.5-pro", None),
    ],
)
def test_a_model_is_known_by_its_seller_and_its_name_with_or_without_a_version(
    base_url: str, model: str, listed: tuple[str, str] | None
) -> None:
    price = listed_price("custom", base_url, model)
    assert price is not None
    if listed is not None:
        assert price == PRICES[listed[0]][listed[1]]


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("http://127.0.0.1:11434/v1", "gpt-5-mini"),
        ("https://proxy.example.com/v1", "claude-sonnet-4-5"),
        (OPENAI, "gpt-99"),
        (OPENAI, "gpt-5-mini-of-somebody"),
        ("https://openrouter.ai/api/v1", "openrouter/auto"),
        ("", "gpt-5-mini"),
    ],
)
def test_what_nobody_lists_has_no_price(base_url: str, model: str) -> None:
    assert listed_price("custom", base_url, model) is None


def test_the_demo_costs_nothing() -> None:
    assert listed_price("demo", "", "demo") is FREE


def test_every_listed_price_is_one() -> None:
    for sold in PRICES.values():
        for name, price in sold.items():
            assert name == name.lower()
            assert 0 < price.input < price.output
            assert price.cached_input is None or price.cached_input < price.input


def cost(usage: Usage, *rules: PriceRule, base_url: str = OPENAI) -> float | None:
    seller = ProviderSettings(provider="custom", base_url=base_url, model="gpt-5-mini")
    return with_cost(usage, rules, seller).cost_usd


def test_the_users_price_wins_then_the_bill_then_the_list() -> None:
    own = PriceRule(pattern="gpt-5*", price=Price(input=1000, output=1000))
    billed = Usage(input_tokens=1000, output_tokens=1000, total_tokens=2000, cost_usd=0.5)
    assert cost(billed, own) == pytest.approx(2.0)
    assert cost(billed) == 0.5
    assert cost(USED) == pytest.approx(0.00225)
    assert cost(USED, base_url="http://localhost:1/v1") is None
