"""What the host is asked to do, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.backends.hosting.models import HostedModel
from hermes.backends.jobs import Memory, Question, Setup
from hermes.backends.saying import Ending, EndKind, StopReason
from hermes.core.budgets import NO_BUDGET, Budget
from hermes.core.cli_agents import Examined, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a CLI agent."""

    model: HostedModel
    question: Question
    system_prompt: str | None = None
    memory: Memory | None = None
    """None: the CLI is to remember nothing of it."""
    answer_schema: Mapping[str, Any] | None = None
    reasoning_effort: str | None = None
    can_ask: bool = False
    budget: Budget = NO_BUDGET
    """What may still be used."""
    run_id: str | None = None

    def setup(self, job_id: str) -> Setup:
        return Setup(
            job_id=job_id,
            model=self.model.model,
            profile=self.model.profile,
            system_prompt=self.system_prompt,
            session=None if self.memory is None else self.memory.session,
            answer_schema=self.answer_schema,
            reasoning_effort=self.reasoning_effort,
            can_ask=self.can_ask,
            max_cost_usd=self.budget.max_cost_usd,
        )

    def suits_warm(self, *, can_be_told_late: bool) -> bool:
        """Whether a process that was started before anybody asked can answer it.

        `can_be_told_late`: it can still be told its system prompt.
        """
        return (
            (self.system_prompt is None or can_be_told_late)
            and self.answer_schema is None
            and self.reasoning_effort is None
            and self.budget.is_unlimited
            and (self.memory is None or not self.memory.session.is_resumed)
            and self.model.agent.workspace.mode == "none"
            and (self.can_ask or self.model.profile is Profile.CHAT)
        )


def failed(code: str, error: str, *, retry_after: float | None = None) -> Ending:
    return Ending(kind=EndKind.FAILED, code=code, error=error, retry_after=retry_after)


def never_began(reason: StopReason) -> Ending:
    return Ending(kind=EndKind.STOPPED, error=reason.value)


def unusable(name: str, examined: Examined) -> Ending:
    error = f"The CLI agent '{name}' cannot be used: {examined.detail}"
    return failed("cli_unavailable", f"{error}; {examined.fix}." if examined.fix else f"{error}.")
