"""Budgets and prices in config.yaml: read, refused by name, a key's own before everybody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.budgets import NO_BUDGETS, Budget, Budgets
from hermes.core.errors import SettingsError
from hermes.core.prices import Price, PriceRule
from hermes.settings.api_server import as_extra, listener_from
from hermes.settings.loading import load_settings
from hermes.settings.model import Settings

KEYS = """
budgets:
  request: {max_tokens: 100, max_seconds: 5}
  day: {max_cost_usd: 3}
server:
  keys:
    ann:
      key: ann-key-0123456789
      toolsets: [files]
      budget:
        request: {max_tokens: 0}
        day: {max_cost_usd: 1.5}
    bob: {key: bob-key-0123456789}
"""


def settings_of(home: Path, text: str) -> Settings:
    (home / "config.yaml").write_text(text)
    return load_settings(environ={"HERMES_HOME": str(home), "HOME": str(home)})


def test_without_a_word_there_are_no_limits_and_no_prices(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "model: m\n")
    assert settings.budgets_of("anybody") is NO_BUDGETS
    assert settings.prices == ()


def test_a_keys_own_limits_take_the_place_of_the_general_ones(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, KEYS)
    general = Budgets(request=Budget(max_tokens=100, max_seconds=5.0), day=Budget(max_cost_usd=3.0))
    assert settings.budgets_of("bob") == settings.budgets_of("default") == general
    own = settings.budgets_of("ann")
    assert own.request.limits() == {"max_seconds": 5.0}
    assert own.day.limits() == {"max_cost_usd": 3.0}
    assert own.key_day.limits() == {"max_cost_usd": 1.5}


def test_a_listener_keeps_all_that_its_keys_have(tmp_path: Path) -> None:
    listener = settings_of(tmp_path, KEYS).listener
    assert listener_from(as_extra(listener), {}).keys == listener.keys


def test_prices_keep_their_order(tmp_path: Path) -> None:
    text = 'prices:\n  "qwen3*": {input: 1, output: 2}\n  "*": {input: 0, output: 0}\n'
    assert settings_of(tmp_path, text).prices == (
        PriceRule(pattern="qwen3*", price=Price(input=1.0, output=2.0)),
        PriceRule(pattern="*", price=Price(input=0.0, output=0.0)),
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("budgets: {request: {max_tokens: -1}}", "budgets.request.max_tokens"),
        ("budgets: {request: {max_tokens: many}}", "budgets.request.max_tokens"),
        ("budgets: {week: {max_tokens: 1}}", "budgets.week"),
        ("budgets: {day: {max_money: 1}}", "budgets.day.max_money"),
        ("budgets: {day: 5}", "budgets.day"),
        ("prices: {m: 5}", "prices.m"),
        ("prices: {m: {input: 1}}", "prices.m.output"),
        ("prices: {m: {input: x, output: 1}}", "prices.m.input"),
        ("prices: {m: {input: 1, output: 1, extra: 1}}", "prices.m"),
        ("server: {keys: {ann: {key: k, budget: 5}}}", "server.keys.ann.budget"),
        ("server: {keys: {ann: {key: k, budget: {week: {}}}}}", "server.keys.ann.budget"),
        (
            "server: {keys: {ann: {key: k, budget: {day: {max_tokens: x}}}}}",
            "server.keys.ann.budget.day.max_tokens",
        ),
    ],
)
def test_what_is_wrong_is_refused_by_its_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings_of(tmp_path, text + "\n")
    assert named in str(refused.value)
