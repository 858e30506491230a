"""Examines what commands run in."""

from __future__ import annotations

from collections.abc import Callable

from hermes.settings.tool_settings import ToolSettings
from hermes_cli.doctor_finding import Finding, ok, problem, warning

_TITLE = "Sandbox"


def sandbox(settings: ToolSettings, problem_with_it: Callable[[], str | None]) -> Finding:
    """`problem_with_it` tries bubblewrap and says why it cannot be used; None: it can."""
    match settings.sandbox:
        case "local":
            return _local(is_possible=problem_with_it() is None)
        case "bubblewrap":
            return _bubblewrap(settings, problem_with_it())


def _local(*, is_possible: bool) -> Finding:
    first = "set" if is_possible else "install bubblewrap, then set"
    return warning(
        _TITLE,
        "local: commands and Python code can do whatever the gateway's user can",
        f"{first} tools.sandbox to bubblewrap in config.yaml, unless that is what you want",
    )


def _bubblewrap(settings: ToolSettings, fault: str | None) -> Finding:
    if fault is None:
        network = "with the network" if settings.sandbox_network else "without network"
        return ok(_TITLE, f"bubblewrap: commands and Python code see the workspace, {network}")
    detail, _, fix = fault.partition("; ")
    return problem(
        _TITLE,
        f"{detail}, so commands and Python code are refused",
        fix or "see what bwrap says, or set tools.sandbox to local",
    )
