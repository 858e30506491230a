"""Our settings in the contract's words: the keywords an `AIAgent` is built with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from hermes.settings.model import AgentSettings, ProviderSettings

DEFAULT_MODEL_NAME = "hermes-agent"


def provider_keywords(provider: ProviderSettings) -> dict[str, Any]:
    return {
        "provider": provider.provider,
        "base_url": provider.base_url,
        "api_key": provider.api_key,
        "api_mode": provider.api_mode,
        "transport": provider.transport,
        "headers": provider.headers,
        "stale_seconds": provider.stale_seconds,
    }


def runtime_keywords(agent: AgentSettings) -> dict[str, Any]:
    """Everything about an agent that does not change from request to request."""
    return {
        **provider_keywords(agent.provider),
        "workspace": agent.workspace,
        "confine": agent.confine,
        "terminal_env": agent.terminal_env,
        "max_iterations": agent.max_iterations,
        "identity": agent.system_prompt,
    }


def reasoning_config(agent: AgentSettings) -> dict[str, Any] | None:
    if agent.reasoning_effort is None:
        return None
    return {"enabled": agent.reasoning_effort != "none", "effort": agent.reasoning_effort}


def reasoning_effort(config: Mapping[str, Any] | None) -> str | None:
    """The effort a reasoning configuration asks for; None leaves it to the provider."""
    return str(config["effort"]) if config and config.get("effort") else None


def fallback_model(agent: AgentSettings) -> dict[str, Any] | None:
    if agent.fallback is None:
        return None
    return {**provider_keywords(agent.fallback), "model": agent.fallback.model}


def provider_from(model: str, keywords: Mapping[str, Any]) -> ProviderSettings:
    """The way back: settings of a provider from `AIAgent` keywords, with gaps allowed."""
    given = {name: value for name, value in keywords.items() if value is not None}
    given.setdefault("provider", "custom")
    return ProviderSettings(model=model, **given)


def fallback_from(fallback: Mapping[str, Any] | None) -> ProviderSettings | None:
    if not fallback:
        return None
    keywords = dict(fallback)
    return provider_from(str(keywords.pop("model")), keywords)


def shown_model_name(explicit: str, active_profile: Callable[[], str]) -> str:
    """The name clients see: the configured one, else the profile's, else the product's."""
    if explicit:
        return explicit
    profile = active_profile()
    return DEFAULT_MODEL_NAME if profile == "default" else profile


def agent_keywords(
    *, runtime: Mapping[str, Any], toolsets: Collection[str], **others: Any
) -> dict[str, Any]:
    """The keywords for one agent. What the runtime says nothing about stays with its default."""
    return {**runtime, "enabled_toolsets": sorted(toolsets), **others}
