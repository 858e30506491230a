"""The options of budgets and prices, and how their sections are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from hermes.core.budgets import LIMITS, Budget, Budgets
from hermes.core.errors import SettingsError
from hermes.core.prices import Price, PriceRule, PriceRules
from hermes.settings import kinds
from hermes.settings.kinds import Kind, read_as
from hermes.settings.option import Option
from hermes.settings.words import NOTHING, Words, kind_of

PRICES = "prices"

_LIMITS: Mapping[str, Kind] = MappingProxyType(
    {
        "max_cost_usd": kinds.amount(0, 1_000_000),
        "max_tokens": kinds.whole_number(0, 10**15),
        "max_iterations": kinds.whole_number(0, 10**9),
        "max_seconds": kinds.seconds(0, 10**9),
    }
)
_WHAT = {
    "max_cost_usd": "US dollars",
    "max_tokens": "tokens, read and written,",
    "max_iterations": "model calls",
    "max_seconds": "seconds of work",
}
_BY_WHOM = {
    "request": "one request may take",
    "session": "a session may take in all",
    "key": "each key may take in all",
    "day": "all keys together may take on a day (UTC)",
}
SCOPES = tuple(_BY_WHOM)


def _option(scope: str, limit: str) -> Option:
    name = f"budgets.{scope}.{limit}"
    return Option(
        name=name,
        kind=_LIMITS[limit],
        config=name,
        default="0",
        sentence=f"How many {_WHAT[limit]} {_BY_WHOM[scope]}; 0 sets no limit.",
    )


BUDGET_OPTIONS = (
    *(_option(scope, limit) for scope in SCOPES for limit in LIMITS),
    Option(
        name=PRICES,
        kind=kinds.SECTION,
        config=PRICES,
        sentence="What models cost, by name or glob, in US dollars per million tokens.",
    ),
)

_PRICE = kinds.amount(0, 1_000_000)
_PRICES = ("input", "output", "cached_input", "cache_write")


def read_key_budgets(said: Any, source: str) -> Budgets:
    """The `budget` of a key: the same scopes; a day is then the key's own."""
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(SCOPES))
    _refuse_unknown(said, SCOPES, source)
    found = {scope: _budget(value, f"{source}.{scope}") for scope, value in said.items()}
    if "day" in found:
        found["key_day"] = found.pop("day")
    return Budgets(**found)


def key_budgets_section(budgets: Budgets) -> dict[str, Any]:
    """The section from which `read_key_budgets` reads the same."""
    names = {"key_day": "day", **{scope: scope for scope in SCOPES if scope != "day"}}
    said = {name: asdict(getattr(budgets, scope)) for scope, name in names.items()}
    return {
        name: limits
        for name, limits in said.items()
        if any(limit is not None for limit in limits.values())
    }


def read_prices(said: Mapping[Any, Any] | None, source: str) -> PriceRules:
    """In the order of the section: the first that fits a model holds."""
    return tuple(_rule(pattern, value, source) for pattern, value in (said or {}).items())


def _budget(said: Any, source: str) -> Budget:
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(LIMITS))
    _refuse_unknown(said, LIMITS, source)
    return Budget(
        **{
            name: read_as(_LIMITS[name], value, key=f"{source}.{name}")
            for name, value in said.items()
            if value is not None
        }
    )


def _rule(pattern: Any, said: Any, section: str) -> PriceRule:
    name = str(read_as(kinds.LINE, pattern, key=section))
    source = f"{section}.{name}"
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(_PRICES))
    _refuse_unknown(said, _PRICES, source)
    found = {
        field: read_as(_PRICE, value, key=f"{source}.{field}")
        for field, value in said.items()
        if value is not None
    }
    for field in ("input", "output"):
        if field not in found:
            raise SettingsError(f"{source}.{field}", NOTHING, _PRICE.allowed)
    return PriceRule(pattern=name, price=Price(**found))


def _refuse_unknown(said: Mapping[Any, Any], allowed: tuple[str, ...], source: str) -> None:
    for name in said:
        if name not in allowed:
            raise SettingsError(source, Words("an unknown key"), ", ".join(allowed))
