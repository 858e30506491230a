"""What was used, written down: the port of a ledger, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from hermes.core.budgets import BudgetScope
from hermes.core.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What model calls used, in all."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0
    """Of the calls whose cost is known."""
    unpriced_tokens: int = 0
    """Those of the other calls."""
    seconds: float = 0.0
    """How long agents were at work."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced_tokens=self.unpriced_tokens + other.unpriced_tokens,
            seconds=self.seconds + other.seconds,
        )


NOTHING_SPENT = Spent()


def spent_by(usage: Usage, *, calls: int = 1, seconds: float = 0.0) -> Spent:
    """The same as a ledger counts it."""
    return Spent(
        calls=calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=usage.cost_usd or 0.0,
        unpriced_tokens=usage.total_tokens if usage.is_unpriced else 0,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a total is asked for: a session; or a key, a day, a key on a day."""

    session_id: str | None = None
    owner: str | None = None
    day: str | None = None
    """As `2026-11-16`, in UTC."""


@dataclass(frozen=True, slots=True)
class DaySpent:
    day: str
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A limit that lasts longer than a request, and how much of it is used."""

    scope: BudgetScope
    limit: str
    """`max_cost_usd`, `max_tokens`, `max_iterations` or `max_seconds`."""
    allowed: float
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a key has used, and what it may still use."""

    owner: str
    today: DaySpent
    total: Spent
    days: Sequence[DaySpent]
    """Those on which it used anything, the newest first."""
    standings: Sequence[Standing]


class Ledger(Protocol):
    """Used from any thread, and on event loops."""

    def add(self, spent: Spent, *, owner: str, session_id: str | None) -> None:
        """Count it at once, and write it down soon. Never blocks, never raises."""

    def known(self, account: Account) -> Spent | None:
        """The total, if it can be told without reading anything."""

    def read(self, account: Account) -> Spent:
        """The total. May block."""

    def days(self, owner: str, *, most: int) -> Sequence[DaySpent]:
        """What a key used day by day, the newest first. May block."""


def today(now: datetime | None = None) -> str:
    return (now or datetime.now(UTC)).strftime("%Y-%m-%d")


def used_of(spent: Spent, limit: str) -> float:
    """What counts against a limit of this name."""
    match limit:
        case "max_cost_usd":
            return spent.cost_usd
        case "max_tokens":
            return spent.total_tokens
        case "max_iterations":
            return spent.calls
        case _:
            return spent.seconds


def seconds_to_midnight(now: datetime | None = None) -> float:
    """Until the next day begins, in UTC."""
    at = now or datetime.now(UTC)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - at).total_seconds()
