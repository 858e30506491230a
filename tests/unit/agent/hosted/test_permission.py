"""What a CLI that asks is told: by profile, by rule, by what was approved, or by a person."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.agent.hosted.permission import (
    Allowed,
    Denied,
    MustAsk,
    Permission,
    Permissions,
    decided,
)
from hermes.backends.saying import PermissionAsked
from hermes.core.approvals import Decision, Grant
from hermes.core.cli_agents import Profile
from hermes.core.turn import Resumption, TurnParameters
from hermes.settings.model import ApprovalRule, ApprovalSettings

ASKED = PermissionAsked(
    id="q1",
    call_id="c1",
    tool="Bash",
    arguments={"command": "npm install"},
    shown="npm install",
    reason="wants to run a command",
)


def decide(
    approvals: ApprovalSettings | None = None,
    profile: Profile = Profile.EDIT,
    approved: dict[str, Any] | None = None,
    **parameters: Any,
) -> Permission:
    wanted = TurnParameters(**{"can_ask": True, **parameters})
    permissions = Permissions(approvals or ApprovalSettings(), profile, wanted)
    if approved is not None:
        permissions.approve("Bash", approved)
    return permissions.decide(ASKED)


def test_a_person_is_asked_with_exactly_what_would_be_done() -> None:
    match decide():
        case MustAsk(verdict):
            assert verdict.shown == "npm install"
            assert verdict.reason == "wants to run a command"
        case other:
            pytest.fail(f"{other}")


@pytest.mark.parametrize("profile", [Profile.CHAT, Profile.READ_ONLY])
def test_below_edit_nothing_is_asked_about(profile: Profile) -> None:
    allowing = ApprovalSettings(mode="allow")
    match decide(allowing, profile):
        case Denied(message):
            assert profile.value in message
        case other:
            pytest.fail(f"{other}")


def test_where_nobody_can_be_asked_it_is_denied() -> None:
    assert isinstance(decide(can_ask=False), Denied)


def test_the_mode_decides_where_no_rule_fits() -> None:
    assert decide(ApprovalSettings(mode="allow")) == Allowed()
    assert isinstance(decide(ApprovalSettings(mode="deny")), Denied)


@pytest.mark.parametrize(
    ("rule", "is_allowed"),
    [
        (ApprovalRule(tool="Bash", pattern="npm *", action="allow"), True),
        (ApprovalRule(tool="Write", action="allow"), False),
        (ApprovalRule(pattern="npm install", key="somebody", action="allow"), False),
    ],
)
def test_the_operator_s_rules_come_first(rule: ApprovalRule, is_allowed: bool) -> None:
    assert (decide(ApprovalSettings(rules=(rule,))) == Allowed()) is is_allowed


def test_what_was_granted_for_longer_is_not_asked_about() -> None:
    assert decide(grants=(Grant("Bash", "npm install"),)) == Allowed()
    assert isinstance(decide(grants=(Grant("Bash", "npm test"),)), MustAsk)


def test_a_rule_that_denies_wins_over_an_approval() -> None:
    denying = ApprovalSettings(rules=(ApprovalRule(tool="Bash", action="deny"),))

    assert isinstance(decide(denying, approved={"command": "npm install"}), Denied)


def test_an_approval_holds_for_the_same_call_and_once() -> None:
    permissions = Permissions(ApprovalSettings(), Profile.EDIT, TurnParameters(can_ask=True))
    permissions.approve("Bash", {"command": "npm install"})

    assert permissions.decide(ASKED) == Allowed()
    assert isinstance(permissions.decide(ASKED), MustAsk)
    assert isinstance(decide(approved={"command": "npm install -g"}), MustAsk)


def test_questions_that_wait_together_share_a_code() -> None:
    permissions = Permissions(
        ApprovalSettings(timeout_seconds=60), Profile.EDIT, TurnParameters(can_ask=True)
    )
    match permissions.decide(ASKED):
        case MustAsk(verdict):
            first, second = permissions.requests([(ASKED, verdict), (ASKED, verdict)])
        case other:
            pytest.fail(f"{other}")

    assert first.code == second.code and first.id != second.id
    assert (first.call_id, first.tool, first.shown) == ("c1", "Bash", "npm install")


def test_what_a_person_said_about_a_call() -> None:
    said = Resumption(
        messages=(),
        started=frozenset(),
        decisions={"yes": Decision.ONCE, "always": Decision.ALWAYS, "no": Decision.DENY},
        decided_by={"no": "timeout"},
    )

    assert decided("yes", said) == decided("always", said) == Allowed()
    assert decided("other", said) is None
    match decided("no", said):
        case Denied(message):
            assert "in time" in message
        case other:
            pytest.fail(f"{other}")
