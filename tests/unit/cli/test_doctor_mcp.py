"""What the doctor says of MCP servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.remote_tools import ServerState, ServerStatus
from hermes.settings.mcp_settings import McpServerSettings, McpSettings
from hermes.settings.model import (
    AgentSettings,
    ListenerSettings,
    LogSettings,
    ProviderSettings,
    Settings,
)
from hermes_cli.doctor_finding import Level
from hermes_cli.doctor_mcp import judged, servers
from tests.unit.mcp.serving import plain


def settings_with(home: Path, *configured: McpServerSettings) -> Settings:
    return Settings(
        home=home,
        listener=ListenerSettings(),
        agent=AgentSettings(
            provider=ProviderSettings(provider="demo", model="demo"), workspace=home
        ),
        log=LogSettings(),
        mcp=McpSettings(servers=configured),
    )


def test_without_servers_nothing_is_said(tmp_path: Path) -> None:
    assert list(servers(settings_with(tmp_path))) == []


def test_every_server_is_tried(tmp_path: Path) -> None:
    missing = McpServerSettings(name="missing", command="/no/such/command")
    good, bad = servers(settings_with(tmp_path, plain("good", "tools=a,b"), missing))

    assert (good.level, good.title, good.detail) == (
        Level.OK,
        "MCP server good",
        "connected; 2 tools",
    )
    assert bad.level is Level.PROBLEM
    assert "/no/such/command" in bad.detail


@pytest.mark.parametrize(
    ("status", "tools", "level"),
    [
        (ServerStatus.CONNECTED, 0, Level.WARNING),
        (ServerStatus.CONNECTING, 0, Level.WARNING),
        (ServerStatus.DISABLED, 0, Level.OK),
        (ServerStatus.UNAVAILABLE, 0, Level.PROBLEM),
    ],
)
def test_every_state_is_told(status: ServerStatus, tools: int, level: Level) -> None:
    finding = judged(ServerState(name="one", status=status, tools=tools))

    assert finding.level is level
    assert finding.fix or level is Level.OK
