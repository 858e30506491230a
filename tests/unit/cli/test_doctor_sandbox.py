"""The doctor says what commands run in, and what to do when they cannot."""

from __future__ import annotations

from hermes.settings.tool_settings import ToolSettings
from hermes_cli.doctor_finding import Level
from hermes_cli.doctor_sandbox import sandbox

MISSING = "bubblewrap is not installed; install it (apt install bubblewrap)"


def test_no_sandbox_is_worth_a_warning_with_the_way_out() -> None:
    possible = sandbox(ToolSettings(), lambda: None)
    assert possible.level is Level.WARNING
    assert possible.fix.startswith("set tools.sandbox to bubblewrap")
    assert sandbox(ToolSettings(), lambda: MISSING).fix.startswith("install bubblewrap, then set")


def test_a_sandbox_that_works_is_reported_with_its_network() -> None:
    boxed = sandbox(ToolSettings(sandbox="bubblewrap"), lambda: None)
    assert (boxed.level, boxed.detail.endswith("without network")) == (Level.OK, True)
    online = sandbox(ToolSettings(sandbox="bubblewrap", sandbox_network=True), lambda: None)
    assert online.detail.endswith("with the network")


def test_a_sandbox_that_does_not_work_is_a_problem_with_its_fix() -> None:
    found = sandbox(ToolSettings(sandbox="bubblewrap"), lambda: MISSING)
    assert found.level is Level.PROBLEM
    assert found.detail == ("bubblewrap is not installed, so commands and Python code are refused")
    assert found.fix == "install it (apt install bubblewrap)"
    unknown = sandbox(ToolSettings(sandbox="bubblewrap"), lambda: "bubblewrap does not start (X)")
    assert "tools.sandbox to local" in unknown.fix
