"""What one turn uses, held against what it may use. Asked before every model call.

A turn and its sub-agents share one allowance, from several threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hermes.core.budgets import NO_BUDGET, Budget, BudgetScope
from hermes.core.ledger import (
    NOTHING_SPENT,
    Account,
    Ledger,
    Spent,
    seconds_to_midnight,
    spent_by,
    used_of,
)
from hermes.core.turn import Failure
from hermes.core.usage import Usage
from hermes.fibers import blocking

CODE = "budget_exhausted"
NEGLIGIBLE_SECONDS = 0.05
LEAST = {"max_cost_usd": 1e-6, "max_tokens": 1, "max_iterations": 1, "max_seconds": 1.0}
"""In a budget nothing at all would mean no limit."""

_WHO = {
    BudgetScope.REQUEST: "This request",
    BudgetScope.SESSION: "This session",
    BudgetScope.KEY: "This key",
    BudgetScope.DAY: "This gateway today",
    BudgetScope.KEY_DAY: "This key today",
}
_OF_DAYS = (BudgetScope.DAY, BudgetScope.KEY_DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A budget, and whose total is held against it; None: the turn's own."""

    scope: BudgetScope
    budget: Budget
    account: Callable[[], Account] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """A limit that was reached."""

    scope: BudgetScope
    name: str
    allowed: float
    used: float

    @property
    def message(self) -> str:
        """What is used up, and what can be done about it."""
        used, allowed = _amount(self.name, self.used), _amount(self.name, self.allowed)
        return f"{_WHO[self.scope]} has used {used} of {allowed} ({self._setting}). {self._advice}"

    @property
    def failure(self) -> Failure:
        wait = seconds_to_midnight() if self.scope in _OF_DAYS else None
        return Failure(code=CODE, retry_after=wait)

    @property
    def _setting(self) -> str:
        if self.scope is BudgetScope.KEY_DAY:
            return f"server.keys.<name>.budget.day.{self.name}"
        return f"budgets.{self.scope.value}.{self.name}"

    @property
    def _advice(self) -> str:
        match self.scope:
            case BudgetScope.REQUEST:
                return "Raise it there or in the request's `budget`, then ask to continue."
            case BudgetScope.SESSION:
                return "Raise the limit and ask to continue, or begin another session."
            case BudgetScope.KEY:
                return "Raise the limit, for all keys or for this one, then ask to continue."
            case BudgetScope.DAY | BudgetScope.KEY_DAY:
                return "Raise the limit, or wait until midnight UTC, then ask to continue."


class Allowance:
    """Without limits and without a ledger it only counts."""

    def __init__(
        self,
        limits: Sequence[Limit] = (),
        *,
        ledger: Ledger | None = None,
        owner: str = "default",
        session_id: str | None = None,
        before: Spent = NOTHING_SPENT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`before` is what the turn used before it was interrupted; the ledger has it already."""
        self._limits = tuple(limits)
        self._ledger = ledger
        self._owner = owner
        self._session_id = session_id
        self._spent = before
        self._clock = clock
        self._booked_until = clock()
        self._lock = threading.Lock()

    @property
    def has_cost_limit(self) -> bool:
        return any(limit.budget.max_cost_usd for limit in self._limits)

    def add(self, usage: Usage) -> None:
        """Count one model call."""
        self._book(usage, calls=1)

    def close(self) -> None:
        """The turn is over: count the time since the last call, if it is worth counting."""
        if self._clock() - self._booked_until > NEGLIGIBLE_SECONDS:
            self._book(Usage(), calls=0)

    def exhausted(self) -> Exhausted | None:
        """The first limit that is reached; then no further call may be made. May step aside."""
        if not self._limits:
            return None
        self._book(Usage(), calls=0)
        for limit in self._limits:
            found = reached(limit, self._total(limit))
            if found is not None:
                return found
        return None

    def left(self) -> Budget:
        """What may still be used before any limit is reached. May step aside.

        For whoever makes many calls before it can be asked again.
        """
        left: dict[str, float] = {}
        for limit in self._limits:
            spent = self._total(limit)
            for name, allowed in limit.budget.limits().items():
                rest = max(allowed - used_of(spent, name), LEAST[name])
                left[name] = min(rest, left.get(name, rest))
        return Budget(**left) if left else NO_BUDGET  # type: ignore[arg-type]

    def _total(self, limit: Limit) -> Spent:
        if limit.account is None:
            return self._spent
        assert self._ledger is not None, "a limit over more than the turn needs a ledger"
        account = limit.account()  # a turn may outlast its day
        known = self._ledger.known(account)
        if known is None:
            known = blocking(partial(self._ledger.read, account))
            self._booked_until = self._clock()  # looking it up is no work of the agent's
        return known

    def _book(self, usage: Usage, *, calls: int) -> None:
        with self._lock:
            now = self._clock()
            seconds, self._booked_until = now - self._booked_until, now
            spent = spent_by(usage, calls=calls, seconds=seconds)
            if self._limits:
                self._spent += spent
        if self._ledger is not None:
            self._ledger.add(spent, owner=self._owner, session_id=self._session_id)


def reached(limit: Limit, spent: Spent) -> Exhausted | None:
    for name, allowed in limit.budget.limits().items():
        used = used_of(spent, name)
        if used >= allowed:
            return Exhausted(scope=limit.scope, name=name, allowed=allowed, used=used)
    return None


def spent_before(usage: Usage, *, calls: int, seconds: float) -> Spent:
    """What a turn that goes on has used already."""
    return replace(spent_by(usage), calls=calls, seconds=seconds)


def _amount(name: str, value: float) -> str:
    match name:
        case "max_cost_usd":
            return f"${value:.4f}".rstrip("0").rstrip(".")
        case "max_tokens":
            return f"{value:,.0f} tokens"
        case "max_iterations":
            return f"{value:,.0f} model calls"
        case _:
            return f"{value:,.1f} seconds"
