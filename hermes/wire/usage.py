"""GET /v1/usage: what a key has used, and what it may still use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.ledger import DaySpent, Spent, Standing, Statement
from hermes.wire.queries import whole_number

MOST_DAYS = 366
_DEFAULT_DAYS = 30


def parse_days(query: Mapping[str, str]) -> int:
    return whole_number(query, "days", _DEFAULT_DAYS, low=1, high=MOST_DAYS)


def usage_object(statement: Statement) -> dict[str, Any]:
    return {
        "object": "usage",
        "key": statement.owner,
        "today": _day(statement.today),
        "total": _spent(statement.total),
        "days": [_day(day) for day in statement.days],
        "budgets": [_standing(standing) for standing in statement.standings],
    }


def _day(day: DaySpent) -> dict[str, Any]:
    return {"day": day.day, **_spent(day.spent)}


def _spent(spent: Spent) -> dict[str, Any]:
    return {
        "model_calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "total_tokens": spent.total_tokens,
        "cached_tokens": spent.cached_tokens,
        "cost_usd": round(spent.cost_usd, 8),
        "unpriced_tokens": spent.unpriced_tokens,
        "seconds": round(spent.seconds, 3),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "scope": standing.scope.value,
        "limit": standing.limit,
        "allowed": standing.allowed,
        "used": round(standing.used, 8),
        "remaining": round(max(standing.allowed - standing.used, 0), 8),
    }
