"""What may be used: by one request, in a session, by a key, on a day."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits, each on its own. None says nothing; 0 says that there is no limit."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    """Of all model calls together: what they read and what they wrote."""
    max_iterations: int | None = None
    """How many model calls, those of sub-agents included."""
    max_seconds: float | None = None
    """How long agents may be at work."""

    @property
    def is_unlimited(self) -> bool:
        return not (self.max_cost_usd or self.max_tokens or self.max_iterations or self.max_seconds)

    def limits(self) -> dict[str, float]:
        """Those that are set, by name."""
        said = {name: getattr(self, name) for name in LIMITS}
        return {name: value for name, value in said.items() if value}

    def over(self, other: Budget) -> Budget:
        """These limits, and the other's where this one says nothing."""
        return Budget(**{name: _first(self, other, name) for name in LIMITS})  # type: ignore[arg-type]

    def lowered_by(self, other: Budget) -> Budget:
        """The lower limit of both, each on its own."""
        if other is NO_BUDGET:  # as nearly always
            return self
        mine, others = self.limits(), other.limits()
        lower = {name: min(mine.get(name, value), value) for name, value in others.items()}
        return Budget(**{**mine, **lower})  # type: ignore[arg-type]


LIMITS = tuple(field.name for field in fields(Budget))
NO_BUDGET = Budget()


class BudgetScope(Enum):
    """Over what a budget is counted."""

    REQUEST = "request"
    SESSION = "session"
    """For as long as the session exists."""
    KEY = "key"
    """For as long as there is a key of this name."""
    DAY = "day"
    """All keys together, from midnight to midnight in UTC."""
    KEY_DAY = "key_day"
    """One key, from midnight to midnight in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The budgets that hold for somebody, one per scope."""

    request: Budget = NO_BUDGET
    session: Budget = NO_BUDGET
    key: Budget = NO_BUDGET
    day: Budget = NO_BUDGET
    key_day: Budget = NO_BUDGET

    def of(self, scope: BudgetScope) -> Budget:
        found: Budget = getattr(self, scope.value)
        return found

    def over(self, other: Budgets) -> Budgets:
        """These limits, and the other's where these say nothing."""
        scopes = [scope.value for scope in BudgetScope]
        return Budgets(
            **{scope: getattr(self, scope).over(getattr(other, scope)) for scope in scopes}
        )


NO_BUDGETS = Budgets()


def _first(one: Budget, other: Budget, name: str) -> float | None:
    said: float | None = getattr(one, name)
    return getattr(other, name) if said is None else said
