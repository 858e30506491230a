"""Examines what becomes of runs: how many there may be, how long they stay, what is asked about."""

from __future__ import annotations

from hermes.settings.model import ApprovalSettings, RunSettings
from hermes_cli.doctor_finding import Finding, ok, warning

_MEGABYTE = 1_000_000


def approvals(settings: ApprovalSettings) -> Finding:
    """Who decides about destructive tool calls."""
    title = "Approvals"
    rules = f"; rules that come first: {len(settings.rules)}" if settings.rules else ""
    match settings.mode:
        case "ask":
            detail = f"a person is asked about destructive tool calls{rules}"
            return ok(title, f"{detail}; no answer within {settings.timeout_seconds:g} s is a no")
        case "deny":
            return ok(title, f"destructive tool calls are denied{rules}")
        case "allow":
            return warning(
                title,
                f"destructive tool calls are made without asking anybody{rules}",
                "set approvals.mode to ask in config.yaml, unless that is what you want",
            )


def limits(settings: RunSettings) -> Finding:
    """How much may be at work, and how much is kept."""
    per_key = f", {settings.max_per_key} for each key" if settings.max_per_key else ""
    return ok(
        "Runs",
        f"{settings.max_concurrent} at once{per_key}; kept for {settings.keep_days} days, "
        f"{settings.max_bytes // _MEGABYTE} MB at most",
    )
