"""The bridge's settings and what happens to values that are not allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends.bridge.settings import (
    BridgeSettings,
    read_settings,
    read_token,
    read_workspace,
)
from hermes.core.errors import SettingsError


def test_everything_has_a_default() -> None:
    assert read_settings({"HERMES_HOME": "/srv/hermes"}) == BridgeSettings(
        workspace=Path("/srv/hermes/workspace"),
        command=("claude",),
        timeout_seconds=900.0,
        execute_timeout_seconds=2700.0,
        max_budget_usd=5.0,
        max_concurrency=1,
        max_queue_depth=0,
        queue_timeout_seconds=600.0,
        job_ttl_seconds=3600.0,
        has_streaming=False,
    )


def test_every_setting_is_read_from_the_environment() -> None:
    environ = {
        "WORKSPACE_DIR": "/srv/code",
        "CLAUDE_COMMAND": "/opt/claude --permission-mode 'accept Edits'",
        "BRIDGE_TIMEOUT_SECONDS": "12.5",
        "EXECUTE_TIMEOUT_SECONDS": "60",
        "BRIDGE_MAX_BUDGET_USD": "0.5",
        "MAX_CONCURRENCY": "3",
        "MAX_QUEUE_DEPTH": "7",
        "QUEUE_TIMEOUT_SECONDS": "5",
        "JOB_TTL_SECONDS": "90",
        "BRIDGE_STREAMING": "1",
    }
    assert read_settings(environ) == BridgeSettings(
        workspace=Path("/srv/code"),
        command=("/opt/claude", "--permission-mode", "accept Edits"),
        timeout_seconds=12.5,
        execute_timeout_seconds=60.0,
        max_budget_usd=0.5,
        max_concurrency=3,
        max_queue_depth=7,
        queue_timeout_seconds=5.0,
        job_ttl_seconds=90.0,
        has_streaming=True,
    )


def test_without_a_home_the_workspace_lies_in_the_users_own() -> None:
    assert read_workspace({"HOME": "/home/me"}) == Path("/home/me/.hermes/workspace")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("BRIDGE_TIMEOUT_SECONDS", text) for text in ("0", "-1", "soon", "nan", "inf")],
        ("EXECUTE_TIMEOUT_SECONDS", "0"),
        ("BRIDGE_MAX_BUDGET_USD", "free"),
        ("MAX_CONCURRENCY", "0"),
        ("MAX_CONCURRENCY", "1.5"),
        ("MAX_QUEUE_DEPTH", "-1"),
        ("MAX_QUEUE_DEPTH", "²"),
        ("QUEUE_TIMEOUT_SECONDS", "never"),
        ("JOB_TTL_SECONDS", "0"),
        ("BRIDGE_STREAMING", "perhaps"),
        ("CLAUDE_COMMAND", "claude 'oops"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=name):
        read_settings({name: text})


@pytest.mark.parametrize("environ", [{}, {"API_BEARER_TOKEN": "  "}])
def test_a_token_of_blanks_is_no_token(environ: dict[str, str]) -> None:
    assert read_token(environ) == ""
