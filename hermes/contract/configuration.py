"""Our settings in the contract's words: the keywords an `AIAgent` is built with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from hermes.contract.hosted_models import model_behind, names_of, served
from hermes.core.served_models import ServedModel
from hermes.core.turn import TurnParameters
from hermes.providers.windows import window_of
from hermes.settings.known_providers import DEMO
from hermes.settings.model import (
    AgentSettings,
    AliasSettings,
    ApprovalSettings,
    ProviderSettings,
    Settings,
)
from hermes.settings.toolsets import narrowed

Fallback = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""One provider for when the first one fails, or several in their order."""

DEFAULT_MODEL_NAME = "hermes-agent"


def provider_keywords(provider: ProviderSettings) -> dict[str, Any]:
    return {
        "provider": provider.provider,
        "base_url": provider.base_url,
        "api_key": provider.api_key,
        "api_keys": provider.api_keys,
        "key_strategy": provider.key_strategy,
        "api_mode": provider.api_mode,
        "transport": provider.transport,
        "headers": provider.headers,
        "stale_seconds": provider.stale_seconds,
        "reasoning_stale_seconds": provider.reasoning_stale_seconds,
        "context_window": provider.context_window,
    }


def runtime_keywords(
    agent: AgentSettings, approvals: ApprovalSettings | None = None
) -> dict[str, Any]:
    """Everything about an agent that does not change from request to request."""
    return {
        **provider_keywords(agent.provider),
        "workspace": agent.workspace,
        "confine": agent.confine,
        "terminal_env": agent.terminal_env,
        "max_iterations": agent.max_iterations,
        "identity": agent.system_prompt,
        "skip_context_files": not agent.context_files,
        "skip_memory": False,
        "approvals": approvals,
    }


def reasoning_config(agent: AgentSettings) -> dict[str, Any] | None:
    if agent.reasoning_effort is None:
        return None
    return _reasoning(agent.reasoning_effort)


def _reasoning(effort: str) -> dict[str, Any]:
    return {"enabled": effort != "none", "effort": effort}


def reasoning_effort(config: Mapping[str, Any] | None) -> str | None:
    """The effort a reasoning configuration asks for; None leaves it to the provider."""
    return str(config["effort"]) if config and config.get("effort") else None


def fallback_model(agent: AgentSettings) -> dict[str, Any] | list[dict[str, Any]] | None:
    """Who is asked when the provider fails: one as the contract knows it, several as a list."""
    chain = [{**provider_keywords(each), "model": each.model} for each in agent.fallbacks]
    if not chain:
        return None
    return chain[0] if len(chain) == 1 else chain


def provider_from(model: str, keywords: Mapping[str, Any]) -> ProviderSettings:
    """The way back: settings of a provider from `AIAgent` keywords, with gaps allowed."""
    given = {name: value for name, value in keywords.items() if value is not None}
    given.setdefault("provider", "custom")
    return ProviderSettings(model=model, **given)


def fallbacks_from(fallback: Fallback) -> list[ProviderSettings]:
    """The way back."""
    if not fallback:
        return []
    sections = [fallback] if isinstance(fallback, Mapping) else fallback
    return [
        provider_from(
            str(section["model"]), {key: value for key, value in section.items() if key != "model"}
        )
        for section in sections
    ]


def shown_model_name(explicit: str, active_profile: Callable[[], str]) -> str:
    """The name clients see: the configured one, else the profile's, else the product's."""
    if explicit:
        return explicit
    profile = active_profile()
    return DEFAULT_MODEL_NAME if profile == "default" else profile


def agent_keywords(
    *,
    runtime: Mapping[str, Any],
    toolsets: Collection[str],
    of_key: Collection[str] | None = None,
    alias: AliasSettings | None = None,
    **others: Any,
) -> dict[str, Any]:
    """The keywords for one agent. What the runtime says nothing about stays with its default.

    `of_key`: what the key that asks may use at most; None: everything.
    """
    changes = {} if alias is None else alias_keywords(alias)
    enabled = changes.pop("enabled_toolsets", toolsets)
    return {
        **runtime,
        **others,
        **changes,
        "enabled_toolsets": sorted(narrowed(enabled, of_key)),
    }


def alias_of(
    parameters: TurnParameters | None, aliases: Callable[[], Mapping[str, AliasSettings]]
) -> AliasSettings | None:
    """The alias a turn is to be answered by; None: the agent itself."""
    if parameters is None or parameters.alias is None:
        return None
    return aliases().get(parameters.alias)


def owner_of(parameters: TurnParameters | None) -> str:
    """The name of the key that asked."""
    return (parameters or TurnParameters()).owner


def alias_keywords(alias: AliasSettings) -> dict[str, Any]:
    """What an alias changes about the agent; the rest is inherited."""
    changes: dict[str, Any] = {**provider_keywords(alias.provider), "model": alias.provider.model}
    if alias.reasoning_effort is not None:
        changes["reasoning_config"] = _reasoning(alias.reasoning_effort)
    if alias.toolsets is not None:
        changes["enabled_toolsets"] = sorted(alias.toolsets)
    if alias.system_prompt is not None:
        changes["identity"] = alias.system_prompt
    return changes


def model_names(settings: Settings) -> list[str]:
    """What clients may ask for beside the agent."""
    return [*settings.models, *names_of(settings.cli)]


def served_model(settings: Settings, alias: str | None) -> ServedModel | None:
    """What stands behind a name; behind None stands the agent, behind an unknown name nothing."""
    if alias is None:
        agent = settings.agent
        return _served(agent.provider, agent.reasoning_effort, has_vision=agent.vision)
    found = settings.models.get(alias)
    if found is None:
        hosted = model_behind(settings.cli, alias)
        return None if hosted is None else served(hosted)
    effort = found.reasoning_effort or settings.agent.reasoning_effort
    return _served(found.provider, effort, has_vision=found.vision)


def _served(provider: ProviderSettings, effort: str | None, *, has_vision: bool) -> ServedModel:
    is_demo = provider.provider == DEMO.name
    return ServedModel(
        model=provider.model,
        api_mode=DEMO.name if is_demo else provider.api_mode,
        has_vision=has_vision,
        reasoning_effort=effort,
        context_window=provider.context_window or window_of(provider.model).tokens,
    )
