"""What a key has used, and what it may still use."""

from __future__ import annotations

from hermes.core.budgets import LIMITS, BudgetScope
from hermes.wire.schemas.about import AREA
from hermes.wire.schemas.builders import (
    constant,
    integer,
    list_of,
    number,
    one_of,
    record,
    ref,
    string,
    written_integer,
)
from hermes.wire.schemas.description import Description, answers_json, query
from hermes.wire.usage import MOST_DAYS

_SPENT = {
    "model_calls": integer(0),
    "input_tokens": integer(0),
    "output_tokens": integer(0),
    "total_tokens": integer(0),
    "cached_tokens": integer(0),
    "cost_usd": number(0),
    "unpriced_tokens": integer(0),
    "seconds": number(0),
}
_DAY = record({"day": string(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), **_SPENT})
_LASTING = (scope.value for scope in BudgetScope if scope is not BudgetScope.REQUEST)

SCHEMAS = {
    "KeyUsage": record(
        {
            "object": constant("usage"),
            "key": string(shortest=1),
            "today": _DAY,
            "total": record(_SPENT),
            "days": list_of(_DAY, most=MOST_DAYS),
            "budgets": list_of(
                record(
                    {
                        "scope": one_of(*_LASTING),
                        "limit": one_of(*LIMITS),
                        "allowed": number(0),
                        "used": number(0),
                        "remaining": number(0),
                    }
                )
            ),
        }
    )
}

DESCRIPTIONS = {
    "usage": Description(
        summary="What the key that asks has used, and what is left for it",
        area=AREA,
        parameters=(
            query(
                "days", "How many days to tell of; 30 by default.", written_integer(1, MOST_DAYS)
            ),
        ),
        answers=answers_json(ref("KeyUsage"), "Today, all time, day by day, and the budgets."),
        errors=(400, 403),
    )
}
