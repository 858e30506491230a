"""The models of CLI agents, as the server knows models."""

from __future__ import annotations

from hermes.backends.drivers.known import kind_of
from hermes.backends.hosting.models import HostedModel, hosted_model, hosted_names
from hermes.core.served_models import ServedModel
from hermes.providers.heeded import CLI
from hermes.providers.windows import window_of
from hermes.settings.cli_settings import CliSettings


def names_of(settings: CliSettings) -> list[str]:
    return hosted_names(settings, kind_of) if settings.agents else []


def model_behind(settings: CliSettings, name: str | None) -> HostedModel | None:
    """None for a name that is no CLI agent's. Raises `ApiError` for what its agent refuses."""
    if name is None or not settings.agents:
        return None
    return hosted_model(settings, kind_of, name)


def served(hosted: HostedModel) -> ServedModel:
    return ServedModel(
        model=hosted.name,
        api_mode=CLI,
        # Whether an agent of another make takes images is known once it runs.
        has_vision=hosted.agent.driver != "command",
        context_window=window_of(hosted.model or "").tokens,
    )


def default_name(settings: CliSettings) -> str | None:
    """Who answers when no model is asked for by name; None: the gateway's own agent."""
    hosted = model_behind(settings, settings.default)
    return None if hosted is None else hosted.name
