"""The kinds of CLIs there are, and the driver for an agent that is configured."""

from __future__ import annotations

from types import MappingProxyType

from hermes.backends.drivers import claude, codex
from hermes.backends.drivers.base import Driver, Installed, Kind
from hermes.settings.cli_settings import CliAgentSettings

KINDS = MappingProxyType({kind.name: kind for kind in (claude.KIND, codex.KIND)})


def kind_of(agent: CliAgentSettings) -> Kind:
    return KINDS[agent.driver]


def driver_for(agent: CliAgentSettings, installed: Installed) -> Driver:
    is_one_shot = agent.transport == "one-shot"
    match agent.driver:
        case "claude":
            return claude.ClaudeDriver(installed, one_shot=is_one_shot)
        case _:
            return codex.CodexDriver(installed, one_shot=is_one_shot)
