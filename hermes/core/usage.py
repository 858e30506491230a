"""What model calls used: tokens, and what they cost. Adding up never makes up a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and money, of one model call or summed over several."""

    input_tokens: int = 0
    """All that the model read, cached or not."""
    output_tokens: int = 0
    """All that it wrote, its thoughts included."""
    total_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input that the provider had read before."""
    cache_write_tokens: int = 0
    """The part of the input that it kept for the next time."""
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    """None: nobody knows."""
    is_cost_partial: bool = False
    """Whether `cost_usd` is without the calls whose cost nobody knows."""
    is_estimated: bool = False
    """Whether some of the tokens were estimated, because a provider did not count them."""

    def __add__(self, other: Usage) -> Usage:
        if self is NO_USAGE:  # the first call of a turn, and mostly the only one
            return other
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost_usd=_sum_of_known(self.cost_usd, other.cost_usd),
            is_cost_partial=self.is_cost_partial
            or other.is_cost_partial
            or self._is_priced_unlike(other),
            is_estimated=self.is_estimated or other.is_estimated,
        )

    @property
    def is_unpriced(self) -> bool:
        """Whether there was something to pay for, and nobody knows how much."""
        return self.cost_usd is None and self.total_tokens > 0

    def _is_priced_unlike(self, other: Usage) -> bool:
        return (self.is_unpriced and other.cost_usd is not None) or (
            self.cost_usd is not None and other.is_unpriced
        )

    @property
    def extras(self) -> dict[str, Any]:
        """What is only worth a word where it is known: cost, and whether to trust the numbers."""
        known: dict[str, Any] = {}
        if self.cost_usd is not None:
            known["cost_usd"] = round(self.cost_usd, 8)
        if self.is_cost_partial:
            known["is_cost_partial"] = True
        if self.is_estimated:
            known["is_estimated"] = True
        return known

    def as_dict(self) -> dict[str, Any]:
        """The tokens by name, and the extras."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            **({"cache_write_tokens": written} if (written := self.cache_write_tokens) else {}),
            **self.extras,
        }


NO_USAGE = Usage()
"""What a sum begins with."""


def _sum_of_known(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other
