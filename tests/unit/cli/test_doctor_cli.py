"""The doctor says which CLI agents would answer, and what to do about the others."""

from __future__ import annotations

import pytest

from hermes.core.cli_agents import Examined, Profile, Readiness
from hermes.settings.cli_settings import CliAgentSettings
from hermes_cli.cli_agents_found import FoundAgent
from hermes_cli.doctor_cli import agents
from hermes_cli.doctor_finding import Level


def found(readiness: Readiness, profile: Profile = Profile.CHAT) -> FoundAgent:
    return FoundAgent(
        agent=CliAgentSettings(
            name="claude", driver="claude", command=("claude",), profile=profile
        ),
        title="Claude Code",
        models=["claude/haiku"],
        examined=Examined(readiness=readiness, version="2.1.325", fix="do this"),
    )


@pytest.mark.parametrize(
    ("readiness", "level"),
    [
        (Readiness.READY, Level.OK),
        (Readiness.LOGIN_UNKNOWN, Level.WARNING),
        (Readiness.NOT_FOUND, Level.PROBLEM),
        (Readiness.MISSING_DEPENDENCY, Level.PROBLEM),
    ],
)
def test_each_state_has_its_level_and_its_fix(readiness: Readiness, level: Level) -> None:
    [finding] = agents([found(readiness)], is_root=False)

    assert (finding.title, finding.level) == ("CLI agent claude", level)
    assert readiness.value in finding.detail and "2.1.325" in finding.detail
    assert finding.fix == ("" if level is Level.OK else "do this")


def test_full_as_root_is_a_problem() -> None:
    full = found(Readiness.READY, Profile.FULL)

    assert [each.level for each in agents([full], is_root=False)] == [Level.OK]
    assert [each.level for each in agents([full], is_root=True)] == [Level.OK, Level.PROBLEM]
