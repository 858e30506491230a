"""Schemas of what turns use, cost and may use. What every wire says about it, said once."""

from __future__ import annotations

from hermes.wire.budgets import HIGHEST_COST, LONGEST_SECONDS, MOST_CALLS, MOST_TOKENS
from hermes.wire.schemas.builders import Schema, about, boolean, integer, number, request

COST = {
    "cost_usd": about("Only where it is known.", number(0)),
    "is_cost_partial": about("Some of the calls have no known cost.", boolean()),
    "is_estimated": about("A provider did not count its tokens.", boolean()),
}
"""What a usage object may say beside its tokens."""

TOKENS = {
    "input_tokens": integer(0),
    "output_tokens": integer(0),
    "total_tokens": integer(0),
}


def _above_zero(high: float) -> Schema:
    return {**number(high=high), "exclusiveMinimum": 0}


BUDGET = about(
    "What this turn may use, all of it together; it can only lower what is configured.",
    {
        **request(
            optional={
                "max_cost_usd": _above_zero(HIGHEST_COST),
                "max_tokens": integer(1, MOST_TOKENS),
                "max_iterations": integer(1, MOST_CALLS),
                "max_seconds": _above_zero(LONGEST_SECONDS),
            }
        ),
        "additionalProperties": False,
    },
)
