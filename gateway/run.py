"""Door: what adapters ask about the configuration, each question by a replaceable name.

Every function takes no arguments and answers from the settings as they are now; `hermes serve`
pins them once, with its command line on top.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hermes.contract import configuration
from hermes.contract.hosted_models import default_name
from hermes.core.served_models import ServedModel
from hermes.settings.loading import SettingsSource
from hermes.settings.model import AliasSettings

settings_source = SettingsSource(os.environ)


def _load_gateway_config() -> dict[str, Any]:
    """config.yaml as a dictionary."""
    return dict(settings_source.current().raw)


def _resolve_runtime_agent_kwargs() -> dict[str, Any]:
    """The provider and everything else an agent is built with, as `AIAgent` keywords."""
    settings = settings_source.current()
    return configuration.runtime_keywords(settings.agent, settings.approvals)


def _resolve_gateway_model() -> str:
    """The provider's name for the model that is used."""
    return settings_source.current().agent.provider.model


def _load_model_aliases() -> Mapping[str, AliasSettings]:
    """The models that clients may ask for beside the agent, by name."""
    return settings_source.current().models


def _list_models() -> list[str]:
    """Their names, and those of the models of CLI agents."""
    return configuration.model_names(settings_source.current())


def _resolve_default_model() -> str | None:
    """Who answers when no model is asked for by name; None: the agent itself."""
    return default_name(settings_source.current().cli)


def _resolve_served_model(alias: str | None) -> ServedModel | None:
    """What stands behind an alias, or behind the agent itself."""
    return configuration.served_model(settings_source.current(), alias)


class GatewayRunner:
    """The contract's home of two more questions to the configuration."""

    @staticmethod
    def _load_reasoning_config() -> dict[str, Any] | None:
        return configuration.reasoning_config(settings_source.current().agent)

    @staticmethod
    def _load_fallback_model() -> dict[str, Any] | list[dict[str, Any]] | None:
        return configuration.fallback_model(settings_source.current().agent)
