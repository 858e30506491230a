"""Which calls of a reply may be made: by the policy, by what was approved, by what was decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes.core.approvals import ApprovalRequest, Decision, new_code
from hermes.core.ids import new_id
from hermes.core.messages import UNKNOWN_OUTCOME
from hermes.core.turn import Resumption, TurnParameters
from hermes.providers.reply import ToolCall
from hermes.settings.model import ApprovalSettings
from hermes.tools.approval_policy import Action, Verdict, judge
from hermes.tools.problem import ToolProblem
from hermes.tools.registry import Registry
from hermes.tools.workspace import Workspace

CHANGED = (
    "Not run: after the calls before it, this one needs approval. Call it again on its own, and "
    "the user will be asked."
)
_DENIALS = {
    "timeout": "Denied: nobody answered the request for approval in time, so this was not run.",
    "nobody": "Denied: nobody is there to be asked for approval, so this was not run.",
    "superseded": "Not approved: the user said something else instead, so this was not run.",
}
_DENIED = (
    "Denied by the user: this was not run. Do not try the same in another way; say what you "
    "wanted to do, or do something else."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """What becomes of a call: it is made, answered with a refusal, or asked about."""

    refusal: str | None = None
    """What the model is told instead of the tool's output."""
    note: str = ""
    """What is added to the output: that somebody approved the call."""
    question: Verdict | None = None


FREE = Clearance()


class Approver:
    """Clears the calls of one turn. May block: the policy looks where paths lead."""

    def __init__(
        self,
        approvals: ApprovalSettings,
        registry: Registry,
        workspace: Workspace,
        parameters: TurnParameters,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._approvals = approvals
        self._registry = registry
        self._workspace = workspace
        self._parameters = parameters
        self._clock = clock
        self._granted = {(grant.tool, grant.shown) for grant in parameters.grants}

    def clear(self, call: ToolCall) -> Clearance:
        """By the policy and by what was approved for longer than once."""
        verdict = self._judge(call)
        if verdict is None or verdict.action is Action.ALLOW:
            return FREE
        if verdict.action is Action.DENY:
            return Clearance(refusal=_forbidden(verdict))
        if (call.name, verdict.shown) in self._granted:
            return Clearance(note="[approved by the user earlier]")
        if not self._parameters.can_ask:
            return Clearance(refusal=_nobody_to_ask(verdict))
        return Clearance(question=verdict)

    def ask(self, questions: Sequence[tuple[ToolCall, Verdict]]) -> list[ApprovalRequest]:
        """The requests for calls that wait together: they share a code."""
        code, expires_at = new_code(), self._clock() + self._approvals.timeout_seconds
        return [
            ApprovalRequest(
                id=new_id("apr_"),
                code=code,
                call_id=call.id,
                tool=call.name,
                arguments=self._registry.fitted(call.name, call.arguments),
                shown=verdict.shown,
                reason=verdict.reason,
                expires_at=expires_at,
            )
            for call, verdict in questions
        ]

    def _judge(self, call: ToolCall) -> Verdict | None:
        """None for a call that the tool will not accept: what is wrong with it is said there."""
        try:
            arguments = self._registry.fitted(call.name, call.arguments)
        except ToolProblem:
            return None
        tool = self._registry.get(call.name)
        return judge(
            self._approvals,
            call.name,
            arguments,
            self._workspace,
            key=self._parameters.owner,
            asks="" if tool is None else tool.asks,
        )


def approver_for(
    approvals: ApprovalSettings | None,
    registry: Registry,
    workspace: Workspace,
    parameters: TurnParameters,
) -> Approver | None:
    """None without a policy: then every call may be made."""
    return None if approvals is None else Approver(approvals, registry, workspace, parameters)


def decided(call: ToolCall, resumption: Resumption) -> Clearance | None:
    """What was found out about a call before the turn went on; None: nothing."""
    if call.id in resumption.started:
        return Clearance(refusal=UNKNOWN_OUTCOME)
    decision = resumption.decisions.get(call.id)
    if decision is None:
        return None
    if decision is Decision.DENY:
        by = resumption.decided_by.get(call.id, "client")
        return Clearance(refusal=denial_by(by))
    return Clearance(note=f"[approved by the user: {decision.value}]")


def denial_by(whom: str) -> str:
    """What the model is told about a call that was denied; `whom` as in `ApprovalDecided`."""
    return _DENIALS.get(whom, _DENIED)


def _forbidden(verdict: Verdict) -> str:
    return (
        f"Denied: this was not run, because it {verdict.reason}. The operator can allow it with "
        "a rule under `approvals.rules`; do something else, or tell the user."
    )


def _nobody_to_ask(verdict: Verdict) -> str:
    return (
        f"Denied: this was not run, because it {verdict.reason} and here nobody can be asked for "
        "approval. The operator can allow it with a rule under `approvals.rules`, or with "
        "`approvals.mode: allow`; do something else, or tell the user."
    )
