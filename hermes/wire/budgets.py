"""The `budget` of a request: what its turn may use. It lowers what is configured, never raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.budgets import LIMITS, NO_BUDGET, Budget
from hermes.core.errors import InvalidRequest
from hermes.wire.lenient import integer, mapping, number, shown

HIGHEST_COST = 1_000_000.0
MOST_TOKENS = 10**12
MOST_CALLS = 1_000_000
LONGEST_SECONDS = 604_800.0


def read_budget(body: Mapping[str, Any]) -> Budget:
    """Raises `InvalidRequest` for a limit that is none, and for one that nobody knows."""
    said = mapping(body, "budget")
    if not said:
        return NO_BUDGET
    for name in said:
        if name not in LIMITS:
            raise InvalidRequest(
                f"'budget' has {', '.join(LIMITS)}; it has no {shown(name)}.",
                param="budget",
                code="invalid_value",
            )
    named = {f"budget.{name}": value for name, value in said.items()}
    return Budget(
        max_cost_usd=_above_zero(named, "budget.max_cost_usd", HIGHEST_COST),
        max_tokens=integer(named, "budget.max_tokens", low=1, high=MOST_TOKENS),
        max_iterations=integer(named, "budget.max_iterations", low=1, high=MOST_CALLS),
        max_seconds=_above_zero(named, "budget.max_seconds", LONGEST_SECONDS),
    )


def _above_zero(body: Mapping[str, Any], name: str, high: float) -> float | None:
    found = number(body, name, low=0, high=high)
    if found == 0:
        raise InvalidRequest(
            f"'{name}' must be more than 0; leave it out for no limit of your own.",
            param=name,
            code="invalid_value",
        )
    return found
