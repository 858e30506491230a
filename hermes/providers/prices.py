"""What well-known models cost where they are sold, so that nobody has to look it up.

List prices for ordinary calls: no batches, no long-context surcharge, no discounts. What is not
here, a local model above all, has no known cost; `prices` in config.yaml says more, and wins.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from hermes.core.prices import FREE, Price, PriceRules, price_by_rule, priced
from hermes.core.usage import Usage
from hermes.settings.known_providers import DEMO
from hermes.settings.model import ProviderSettings

AS_OF = "2025-10"
"""When the figures were taken from the sellers' pages."""

_VERSION = re.compile(r"-(latest|\d{3,4}|\d{8}|\d{4}-\d{2}-\d{2})$")


def _price(input: float, output: float, cached: float | None = None) -> Price:
    return Price(input=input, output=output, cached_input=cached)


def _claude(input: float, output: float) -> Price:
    """Reading from the cache costs a tenth; writing to it, for five minutes, a quarter more."""
    return Price(
        input=input, output=output, cached_input=input / 10, cache_write=round(input * 1.25, 4)
    )


_OPENAI = {
    "gpt-5.1": _price(1.25, 10, 0.125),
    "gpt-5.1-codex": _price(1.25, 10, 0.125),
    "gpt-5": _price(1.25, 10, 0.125),
    "gpt-5-codex": _price(1.25, 10, 0.125),
    "gpt-5-chat": _price(1.25, 10, 0.125),
    "gpt-5-mini": _price(0.25, 2, 0.025),
    "gpt-5-nano": _price(0.05, 0.4, 0.005),
    "gpt-5-pro": _price(15, 120),
    "gpt-4.1": _price(2, 8, 0.5),
    "gpt-4.1-mini": _price(0.4, 1.6, 0.1),
    "gpt-4.1-nano": _price(0.1, 0.4, 0.025),
    "gpt-4o": _price(2.5, 10, 1.25),
    "gpt-4o-mini": _price(0.15, 0.6, 0.075),
    "gpt-4-turbo": _price(10, 30),
    "gpt-3.5-turbo": _price(0.5, 1.5),
    "o1": _price(15, 60, 7.5),
    "o1-pro": _price(150, 600),
    "o3": _price(2, 8, 0.5),
    "o3-pro": _price(20, 80),
    "o3-mini": _price(1.1, 4.4, 0.55),
    "o4-mini": _price(1.1, 4.4, 0.275),
}
_ANTHROPIC = {
    "claude-opus-4-5": _claude(5, 25),
    "claude-opus-4-1": _claude(15, 75),
    "claude-opus-4": _claude(15, 75),
    "claude-opus-4-0": _claude(15, 75),
    "claude-sonnet-4-5": _claude(3, 15),
    "claude-sonnet-4": _claude(3, 15),
    "claude-sonnet-4-0": _claude(3, 15),
    "claude-haiku-4-5": _claude(1, 5),
    "claude-3-7-sonnet": _claude(3, 15),
    "claude-3-5-sonnet": _claude(3, 15),
    "claude-3-5-haiku": _claude(0.8, 4),
    "claude-3-opus": _claude(15, 75),
}
_DEEPSEEK = {
    "deepseek-chat": _price(0.28, 0.42, 0.028),
    "deepseek-reasoner": _price(0.28, 0.42, 0.028),
}
_GOOGLE = {
    "gemini-2.5-pro": _price(1.25, 10, 0.125),
    "gemini-2.5-flash": _price(0.3, 2.5, 0.03),
    "gemini-2.5-flash-lite": _price(0.1, 0.4, 0.01),
    "gemini-2.0-flash": _price(0.1, 0.4, 0.025),
}
_MISTRAL = {
    "mistral-large": _price(2, 6),
    "mistral-medium": _price(0.4, 2),
    "mistral-small": _price(0.1, 0.3),
    "codestral": _price(0.3, 0.9),
}
_XAI = {
    "grok-4": _price(3, 15, 0.75),
    "grok-3": _price(3, 15, 0.75),
    "grok-3-mini": _price(0.3, 0.5, 0.075),
    "grok-code-fast-1": _price(0.2, 1.5, 0.02),
}

PRICES: Mapping[str, Mapping[str, Price]] = MappingProxyType(
    {
        "api.openai.com": _OPENAI,
        "api.anthropic.com": _ANTHROPIC,
        "api.deepseek.com": _DEEPSEEK,
        "generativelanguage.googleapis.com": _GOOGLE,
        "api.mistral.ai": _MISTRAL,
        "api.x.ai": _XAI,
    }
)
"""By the host that sells them, and by name without a version: the same model costs what its seller
asks for it, and nothing is known of what a stranger calls by the same name."""


@functools.lru_cache(maxsize=256)
def listed_price(provider: str, base_url: str, model: str) -> Price | None:
    """What the seller asks; None when nobody knows."""
    if provider == DEMO.name:
        return FREE
    sold = PRICES.get(urlsplit(base_url).hostname or "", {})
    name = model.lower().removeprefix("models/")
    return sold.get(name) or sold.get(_VERSION.sub("", name))


def with_cost(usage: Usage, rules: PriceRules, seller: ProviderSettings) -> Usage:
    """The usage of one call with its cost: the user's price, the provider's bill, the list's price.

    Without any of them it has no cost, which is not the same as costing nothing.
    """
    own = price_by_rule(rules, seller.model) if rules else None
    if own is None and usage.cost_usd is not None:
        return usage
    return priced(usage, own or listed_price(seller.provider, seller.base_url, seller.model))
