"""What a turn may use: the first limit that is reached stops it, whoever counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.budgets import LIMITS, Budget, Budgets, BudgetScope
from hermes.core.errors import BudgetExhausted
from hermes.core.ledger import Account, today
from hermes.core.turn import Resumption, TurnParameters
from hermes.core.usage import Usage
from hermes.runs.accounting import Accounting
from hermes.runs.allowance import Allowance, Limit
from hermes.runs.threads import Threads
from hermes.store.ledger import ProcessLedger

CALL = Usage(input_tokens=8, output_tokens=2, total_tokens=10, cost_usd=0.5)
limits = st.none() | st.integers(0, 100)
budgets = st.builds(
    Budget, max_cost_usd=limits, max_tokens=limits, max_iterations=limits, max_seconds=limits
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def of_request(clock: Clock | None = None, **limit: float) -> Allowance:
    budget = Budget(**limit)  # type: ignore[arg-type]
    return Allowance([Limit(scope=BudgetScope.REQUEST, budget=budget)], clock=clock or Clock())


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        ({"max_tokens": 10}, 1),
        ({"max_tokens": 11}, 2),
        ({"max_cost_usd": 0.5}, 1),
        ({"max_cost_usd": 0.51}, 2),
        ({"max_iterations": 3}, 3),
        ({"max_seconds": 2.5}, 3),
    ],
)
def test_the_call_that_reaches_a_limit_is_the_last(limit: dict[str, float], calls: int) -> None:
    clock = Clock()
    allowance = of_request(clock, **limit)
    made = 0
    while allowance.exhausted() is None:
        made += 1
        clock.now += 1.0
        allowance.add(CALL)
    assert made == calls


def test_what_is_left_is_told_by_the_tightest_limit() -> None:
    request = Limit(
        scope=BudgetScope.REQUEST, budget=Budget(max_cost_usd=2.0, max_tokens=100, max_iterations=3)
    )
    tighter = Limit(scope=BudgetScope.REQUEST, budget=Budget(max_tokens=50))
    allowance = Allowance([request, tighter], clock=Clock())
    allowance.add(CALL)

    assert allowance.left() == Budget(max_cost_usd=1.5, max_tokens=40, max_iterations=2)


def test_what_is_used_up_leaves_the_least_there_is() -> None:
    allowance = of_request(max_iterations=1, max_cost_usd=0.5)
    allowance.add(CALL)

    assert allowance.left() == Budget(max_cost_usd=1e-6, max_iterations=1)


def test_without_limits_there_is_always_more() -> None:
    assert Allowance().left().is_unlimited


def test_without_limits_nothing_stops() -> None:
    allowance = Allowance()
    allowance.add(CALL)
    assert allowance.exhausted() is None
    assert of_request(max_tokens=0).exhausted() is None


def test_it_says_what_was_used_and_how_to_raise_the_limit() -> None:
    allowance = of_request(max_tokens=1000)
    allowance.add(Usage(total_tokens=1234))
    spent = allowance.exhausted()
    assert spent is not None
    assert spent.message == (
        "This request has used 1,234 tokens of 1,000 tokens (budgets.request.max_tokens). "
        "Raise it there or in the request's `budget`, then ask to continue."
    )
    assert spent.failure.retry_after is None


def test_what_was_used_before_a_pause_counts() -> None:
    resumption = Resumption(messages=(), started=frozenset(), usage=CALL, calls=1, seconds=3.0)
    parameters = TurnParameters(resumption=resumption, budget=Budget(max_iterations=1))
    assert Accounting().allowance(parameters, None).exhausted() is not None


def test_a_chat_that_is_not_stored_has_no_session_to_count_for() -> None:
    ledger = ProcessLedger(lambda: None)
    accounting = Accounting(
        budgets=lambda _owner: Budgets(session=Budget(max_tokens=1)), ledger=ledger
    )
    for _ in range(2):
        allowance = accounting.allowance(TurnParameters(persist=False), "api-1")
        assert allowance.exhausted() is None
        allowance.add(CALL)
    kept = accounting.allowance(TurnParameters(persist=True), "api-1")
    kept.add(CALL)
    assert kept.exhausted() is not None
    ledger.close()


def test_keys_are_counted_apart_and_days_together() -> None:
    ledger = ProcessLedger(lambda: None)
    own = Budgets(key=Budget(max_tokens=20), day=Budget(max_tokens=30))
    accounting = Accounting(budgets=lambda _owner: own, ledger=ledger)
    for owner in ("ann", "bob"):
        accounting.allowance(TurnParameters(owner=owner), None).add(CALL)
    assert accounting.refusal("ann", None) is None
    accounting.allowance(TurnParameters(owner="bob"), None).add(CALL)
    spent = accounting.refusal("bob", None)
    assert spent is not None
    assert spent.scope is BudgetScope.KEY
    other = accounting.refusal("ann", None)
    assert other is not None
    assert other.scope is BudgetScope.DAY
    wait = other.failure.retry_after
    assert wait is not None
    assert 0 < wait <= 86_400
    assert ledger.read(Account(day=today())).total_tokens == 30
    ledger.close()


async def test_who_has_nothing_left_is_refused() -> None:
    ledger, threads = ProcessLedger(lambda: None), Threads("test", 1)
    budget = Budgets(key=Budget(max_iterations=1))
    accounting = Accounting(budgets=lambda _owner: budget, ledger=ledger)
    await accounting.refuse_spent("ann", None, threads)
    accounting.allowance(TurnParameters(owner="ann"), None).add(CALL)
    with pytest.raises(BudgetExhausted, match=r"budgets\.key\.max_iterations") as refused:
        await accounting.refuse_spent("ann", None, threads)
    assert refused.value.headers == {"x-should-retry": "false"}
    threads.close()
    ledger.close()


@given(budgets, budgets)
def test_a_request_never_raises_a_limit(configured: Budget, asked: Budget) -> None:
    both = configured.lowered_by(asked).limits()
    for name in LIMITS:
        said = [own[name] for own in (configured.limits(), asked.limits()) if name in own]
        assert both.get(name) == (min(said) if said else None)


@given(budgets, budgets)
def test_a_keys_own_limit_takes_the_place_of_the_general_one(own: Budget, other: Budget) -> None:
    held = own.over(other)
    for name in LIMITS:
        said = getattr(own, name)
        assert getattr(held, name) == (getattr(other, name) if said is None else said)
