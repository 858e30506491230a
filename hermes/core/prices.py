"""What a model's tokens cost, as its seller says it: US dollars per million."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from hermes.core.usage import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """None: as any other input."""
    cache_write: float | None = None
    """None: as any other input."""

    def cost_of(self, usage: Usage) -> float:
        cached, written = usage.cached_tokens, usage.cache_write_tokens
        fresh = max(usage.input_tokens - cached - written, 0)
        # Some providers bill thoughts that they do not count among the words of the answer.
        said = max(usage.output_tokens, usage.total_tokens - usage.input_tokens)
        dollars = (
            fresh * self.input
            + cached * (self.input if self.cached_input is None else self.cached_input)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + said * self.output
        )
        return dollars / MILLION


FREE = Price(input=0.0, output=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRule:
    """What the user says the models cost that fit a glob."""

    pattern: str
    price: Price


PriceRules = tuple[PriceRule, ...]


def price_by_rule(rules: PriceRules, model: str) -> Price | None:
    """The first rule that fits; case does not matter."""
    wanted = model.lower()
    for rule in rules:
        if fnmatchcase(wanted, rule.pattern.lower()):
            return rule.price
    return None


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost, as far as the price is known."""
    return usage if price is None else replace(usage, cost_usd=price.cost_of(usage))
