"""What is said to a CLI that asks before it does something: the same doors as for our own tools."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.agent.approving import denial_by
from hermes.backends.saying import PermissionAsked
from hermes.core.approvals import ApprovalRequest, Decision, new_code
from hermes.core.cli_agents import Profile
from hermes.core.ids import new_id
from hermes.core.turn import Resumption, TurnParameters
from hermes.settings.model import ApprovalSettings
from hermes.tools.approval_policy import Action, Verdict, judge_asked

_BEYOND = "Denied: the profile '{profile}' of this agent does not go that far. Do without it."
_FORBIDDEN = "Denied: it {reason}. Do something else, or tell the user."
_NOBODY = "Denied: nobody can be asked for approval here. Do something else, or tell the user."


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may be made."""


@dataclass(frozen=True, slots=True)
class Denied:
    """It may not; the model is told why."""

    message: str


@dataclass(frozen=True, slots=True)
class MustAsk:
    """A person has to decide."""

    verdict: Verdict


Permission = Allowed | Denied | MustAsk


@dataclass(slots=True)
class Permissions:
    """Decides about the questions of one turn."""

    approvals: ApprovalSettings
    profile: Profile
    parameters: TurnParameters
    approved: set[tuple[str, str]] = field(default_factory=set)
    """Calls that a person has approved once and that were not made yet."""

    def approve(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Let this call pass when it is asked about, once."""
        self.approved.add((tool, _written(arguments)))

    def decide(self, asked: PermissionAsked) -> Permission:
        if not Profile.EDIT.within(self.profile):
            return Denied(_BEYOND.format(profile=self.profile.value))
        verdict = judge_asked(
            self.approvals,
            asked.tool,
            asked.shown,
            key=self.parameters.owner,
            reason=asked.reason,
        )
        call = (asked.tool, verdict.shown)
        if verdict.action is Action.DENY:
            return Denied(_FORBIDDEN.format(reason=verdict.reason))
        approval = (asked.tool, _written(asked.arguments))
        if approval in self.approved:
            self.approved.remove(approval)
            return Allowed()
        is_granted = any((grant.tool, grant.shown) == call for grant in self.parameters.grants)
        if verdict.action is Action.ALLOW or is_granted:
            return Allowed()
        return MustAsk(verdict) if self.parameters.can_ask else Denied(_NOBODY)

    def requests(
        self, questions: Sequence[tuple[PermissionAsked, Verdict]]
    ) -> list[ApprovalRequest]:
        """For questions that wait together: they share a code."""
        code, expires_at = new_code(), time.time() + self.approvals.timeout_seconds
        return [
            ApprovalRequest(
                id=new_id("apr_"),
                code=code,
                call_id=asked.call_id,
                tool=asked.tool,
                arguments=asked.arguments,
                shown=verdict.shown,
                reason=verdict.reason,
                expires_at=expires_at,
            )
            for asked, verdict in questions
        ]


def decided(call_id: str, resumption: Resumption) -> Permission | None:
    """What a person said about a call; None: nothing yet."""
    decision = resumption.decisions.get(call_id)
    if decision is None:
        return None
    if decision is not Decision.DENY:
        return Allowed()
    return Denied(denial_by(resumption.decided_by.get(call_id, "client")))


def _written(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False, default=str)
