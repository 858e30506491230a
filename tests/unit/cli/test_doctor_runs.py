"""What the doctor says about runs."""

from __future__ import annotations

from hermes.settings.model import ApprovalRule, ApprovalSettings, RunSettings
from hermes_cli import doctor_runs
from hermes_cli.doctor_finding import Level


def test_destructive_calls_that_nobody_is_asked_about_are_worth_a_warning() -> None:
    found = doctor_runs.approvals(ApprovalSettings(mode="allow"))

    assert found.level is Level.WARNING
    assert "without asking anybody" in found.detail
    assert "approvals.mode" in found.fix


def test_asking_and_denying_are_fine() -> None:
    asking = doctor_runs.approvals(
        ApprovalSettings(timeout_seconds=60, rules=(ApprovalRule(action="deny"),))
    )
    denying = doctor_runs.approvals(ApprovalSettings(mode="deny"))

    assert (asking.level, denying.level) == (Level.OK, Level.OK)
    assert "rules that come first: 1" in asking.detail
    assert "no answer within 60 s is a no" in asking.detail


def test_limits_are_shown_as_they_are() -> None:
    found = doctor_runs.limits(RunSettings(max_concurrent=20, max_per_key=3, max_bytes=5_000_000))

    assert found.detail == "20 at once, 3 for each key; kept for 30 days, 5 MB at most"
