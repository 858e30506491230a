"""Everything that may be said of a CLI agent is on its page, and so is every profile."""

from __future__ import annotations

import re
from pathlib import Path

from hermes.core.cli_agents import Profile
from hermes.settings.cli_agents import FIELDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli-agents.md"


def in_tables(page: str) -> set[str]:
    """What stands in backquotes in the first cell of a row."""
    first_cells = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_key_of_an_agent_is_in_a_table() -> None:
    assert set(FIELDS) - in_tables(PAGE.read_text()) == set()


def test_every_profile_is_in_a_table() -> None:
    assert {profile.value for profile in Profile} - in_tables(PAGE.read_text()) == set()
