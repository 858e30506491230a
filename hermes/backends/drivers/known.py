"""The kinds of CLIs there are, and the driver for an agent that is configured."""

from __future__ import annotations

from hermes.backends.drivers import acp, claude, codex, declared
from hermes.backends.drivers.base import Driver, Installed, Kind
from hermes.settings.cli_settings import CliAgentSettings


def kind_of(agent: CliAgentSettings) -> Kind:
    match agent.driver:
        case "claude":
            return claude.KIND
        case "codex":
            return codex.KIND
        case "acp":
            return acp.kind_of(agent.command)
        case "command":
            return declared.KIND


def driver_for(agent: CliAgentSettings, installed: Installed) -> Driver:
    is_one_shot = agent.transport == "one-shot"
    match agent.driver:
        case "claude":
            return claude.ClaudeDriver(installed, one_shot=is_one_shot)
        case "codex":
            return codex.CodexDriver(installed, one_shot=is_one_shot)
        case "acp":
            return acp.AcpDriver(installed)
        case "command":
            return declared.DeclaredDriver(installed, agent.declared, profile=agent.profile)
