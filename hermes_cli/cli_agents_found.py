"""What `hermes models` and `hermes doctor` find out about CLI agents, configured or not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hermes.backends.drivers.known import kind_of
from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.models import hosted_names
from hermes.core.cli_agents import Examined
from hermes.settings.cli_agents import DRIVERS
from hermes.settings.cli_settings import CliAgentSettings, CliSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAgent:
    """A CLI agent that is configured."""

    agent: CliAgentSettings
    title: str
    """What people call it."""
    models: list[str]
    """As clients ask for them."""
    examined: Examined


def configured_agents(
    settings: CliSettings, environ: Mapping[str, str] = os.environ
) -> Iterator[FoundAgent]:
    """Each as soon as it was looked at. May block."""
    catalogue = Catalogue(environ)
    for agent in settings.agents:
        models = hosted_names(CliSettings(agents=(agent,)), kind_of)
        examined = catalogue.find(agent).examined
        title = kind_of(agent).title
        yield FoundAgent(agent=agent, title=title, models=models, examined=examined)


def unused_programs(settings: CliSettings, environ: Mapping[str, str] = os.environ) -> list[str]:
    """CLI agents that are installed here and not served, by the names of their programs."""
    served = {agent.command[0].rpartition("/")[2] for agent in settings.agents}
    path = environ.get("PATH")
    return [name for name in DRIVERS if name not in served and shutil.which(name, path=path)]
