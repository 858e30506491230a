"""What turns may use and what they cost, for all agents of a process; made by a door."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hermes.core.budgets import NO_BUDGET, NO_BUDGETS, Budget, Budgets, BudgetScope
from hermes.core.errors import BudgetExhausted
from hermes.core.ledger import (
    NOTHING_SPENT,
    Account,
    DaySpent,
    Ledger,
    Standing,
    Statement,
    today,
    used_of,
)
from hermes.core.prices import PriceRules
from hermes.core.turn import TurnParameters
from hermes.runs.allowance import Allowance, Exhausted, Limit, reached, spent_before
from hermes.runs.threads import Threads

_LASTING = (BudgetScope.SESSION, BudgetScope.KEY, BudgetScope.DAY, BudgetScope.KEY_DAY)
"""What is counted over more than one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """Without a ledger nothing outlasts a turn, and only the request's own budget holds."""

    budgets: Callable[[str], Budgets] = lambda _owner: NO_BUDGETS
    """Those that hold for the key of this name, as configured now."""
    prices: Callable[[], PriceRules] = tuple
    ledger: Ledger | None = None

    def allowance(self, parameters: TurnParameters, session_id: str | None) -> Allowance:
        """For one turn. A session that is not stored has no total: others may have its name."""
        owner = parameters.owner
        lasting = session_id if parameters.persist else None
        budgets = self.budgets(owner)
        limits: list[Limit] = []
        if budgets is not NO_BUDGETS or parameters.budget is not NO_BUDGET:
            limits = self._limits(budgets, parameters.budget, owner, lasting)
        resumption = parameters.resumption
        return Allowance(
            limits,
            ledger=self.ledger,
            owner=owner,
            session_id=lasting,
            before=NOTHING_SPENT
            if resumption is None
            else spent_before(resumption.usage, calls=resumption.calls, seconds=resumption.seconds),
        )

    def _limits(
        self, budgets: Budgets, asked: Budget, owner: str, session_id: str | None
    ) -> list[Limit]:
        own = budgets.request.lowered_by(asked)
        of_request = [] if own.is_unlimited else [Limit(scope=BudgetScope.REQUEST, budget=own)]
        return [*of_request, *self._lasting_limits(budgets, owner, session_id)]

    async def refuse_spent(self, owner: str, session_id: str | None, threads: Threads) -> None:
        """Raises `BudgetExhausted` when there is nothing left to begin a turn with."""
        if not self.is_limited(owner):
            return
        spent = await threads.run(partial(self.refusal, owner, session_id))
        if spent is not None:
            wait = spent.failure.retry_after
            headers = {} if wait is None else {"Retry-After": str(math.ceil(wait))}
            raise BudgetExhausted(spent.message, headers=headers)

    def is_limited(self, owner: str) -> bool:
        """Whether `refusal` could have anything to say."""
        return bool(self._lasting_limits(self.budgets(owner), owner, "any"))

    def refusal(self, owner: str, session_id: str | None) -> Exhausted | None:
        """A limit that was reached before a turn even began. May block."""
        ledger = self.ledger
        if ledger is None:
            return None
        for limit in self._lasting_limits(self.budgets(owner), owner, session_id):
            assert limit.account is not None
            found = reached(limit, ledger.read(limit.account()))
            if found is not None:
                return found
        return None

    def statement(self, owner: str, session_id: str | None, *, most_days: int) -> Statement:
        """What a key has used, and what is left for it. May block."""
        day, ledger = today(), self.ledger
        if ledger is None:
            nothing = DaySpent(day, NOTHING_SPENT)
            return Statement(owner=owner, today=nothing, total=NOTHING_SPENT, days=(), standings=())
        limits = self._lasting_limits(self.budgets(owner), owner, session_id)
        return Statement(
            owner=owner,
            today=DaySpent(day, ledger.read(Account(owner=owner, day=day))),
            total=ledger.read(Account(owner=owner)),
            days=ledger.days(owner, most=most_days),
            standings=[standing for limit in limits for standing in _standings(limit, ledger)],
        )

    def _lasting_limits(self, budgets: Budgets, owner: str, session_id: str | None) -> list[Limit]:
        if budgets is NO_BUDGETS or self.ledger is None:
            return []
        accounts: dict[BudgetScope, Callable[[], Account]] = {
            BudgetScope.SESSION: lambda: Account(session_id=session_id),
            BudgetScope.KEY: lambda: Account(owner=owner),
            BudgetScope.DAY: lambda: Account(day=today()),
            BudgetScope.KEY_DAY: lambda: Account(owner=owner, day=today()),
        }
        return [
            Limit(scope=scope, budget=budgets.of(scope), account=accounts[scope])
            for scope in _LASTING
            if not budgets.of(scope).is_unlimited
            and (scope is not BudgetScope.SESSION or session_id is not None)
        ]


def _standings(limit: Limit, ledger: Ledger) -> list[Standing]:
    assert limit.account is not None
    spent = ledger.read(limit.account())
    return [
        Standing(scope=limit.scope, limit=name, allowed=allowed, used=used_of(spent, name))
        for name, allowed in limit.budget.limits().items()
    ]
