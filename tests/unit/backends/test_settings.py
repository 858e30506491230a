"""The bridge's settings and what happens to values that are not allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends.settings import BridgeSettings, read_settings, read_token, read_workspace
from hermes.core.errors import SettingsError


def test_everything_has_a_default() -> None:
    assert read_settings({"HERMES_HOME": "/srv/hermes"}) == BridgeSettings(
        workspace=Path("/srv/hermes/workspace"), command=("claude",), timeout_seconds=900.0
    )


def test_every_setting_is_read_from_the_environment() -> None:
    environ = {
        "WORKSPACE_DIR": "/srv/code",
        "CLAUDE_COMMAND": "/opt/claude --permission-mode 'accept Edits'",
        "BRIDGE_TIMEOUT_SECONDS": "12.5",
    }
    assert read_settings(environ) == BridgeSettings(
        workspace=Path("/srv/code"),
        command=("/opt/claude", "--permission-mode", "accept Edits"),
        timeout_seconds=12.5,
    )


def test_without_a_home_the_workspace_lies_in_the_users_own() -> None:
    assert read_workspace({"HOME": "/home/me"}) == Path("/home/me/.hermes/workspace")


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_a_timeout_that_is_no_positive_number_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingsError, match="BRIDGE_TIMEOUT_SECONDS"):
        read_settings({"BRIDGE_TIMEOUT_SECONDS": text})


def test_a_command_with_an_open_quote_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match="CLAUDE_COMMAND"):
        read_settings({"CLAUDE_COMMAND": "claude 'oops"})


@pytest.mark.parametrize("environ", [{}, {"API_BEARER_TOKEN": "  "}])
def test_a_token_of_blanks_is_no_token(environ: dict[str, str]) -> None:
    assert read_token(environ) == ""
