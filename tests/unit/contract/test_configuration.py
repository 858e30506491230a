"""Settings become the keywords of an agent, and the keywords settings again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hermes.contract.configuration import (
    agent_keywords,
    fallback_model,
    fallbacks_from,
    provider_from,
    provider_keywords,
    reasoning_config,
    reasoning_effort,
    runtime_keywords,
    shown_model_name,
)
from hermes.settings.model import AgentSettings, ApprovalSettings, ProviderSettings
from run_agent import AIAgent

PROVIDER = ProviderSettings(
    provider="custom",
    model="m",
    base_url="http://localhost:1/v1",
    api_key="sk-1",
    api_mode="codex_responses",
    transport="sdk",
    headers={"X-Team": "a"},
    stale_seconds=7.0,
    reasoning_stale_seconds=8.0,
    api_keys=("sk-1", "sk-2"),
    key_strategy="round_robin",
)


def settings(tmp_path: Path, **fields: object) -> AgentSettings:
    return AgentSettings(provider=PROVIDER, workspace=tmp_path, **fields)  # type: ignore[arg-type]


def test_a_provider_survives_the_way_through_the_keywords() -> None:
    assert provider_from("m", provider_keywords(PROVIDER)) == PROVIDER


@pytest.mark.parametrize("chain", [(PROVIDER,), (PROVIDER, replace(PROVIDER, model="n"))])
def test_fallbacks_survive_the_way_through_the_keywords(
    chain: tuple[ProviderSettings, ...], tmp_path: Path
) -> None:
    assert fallbacks_from(fallback_model(settings(tmp_path, fallbacks=chain))) == list(chain)


def test_one_fallback_is_told_as_the_contract_knows_it(tmp_path: Path) -> None:
    told = fallback_model(settings(tmp_path, fallbacks=(PROVIDER,)))
    assert isinstance(told, dict)
    assert told["model"] == "m"


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_fallback_stays_none(nothing: dict[str, str] | None, tmp_path: Path) -> None:
    assert fallbacks_from(nothing) == []
    assert fallback_model(settings(tmp_path)) is None


def test_keywords_left_out_have_the_settings_defaults() -> None:
    assert provider_from("m", {"base_url": None}) == ProviderSettings(provider="custom", model="m")


def test_an_agent_can_be_built_from_every_runtime_keyword(tmp_path: Path) -> None:
    keywords = agent_keywords(
        runtime=runtime_keywords(settings(tmp_path), ApprovalSettings()),
        toolsets={"terminal", "files"},
        model="m",
    )
    agent = AIAgent(**keywords)
    assert agent._provider == PROVIDER
    assert agent.workspace == tmp_path
    assert agent.enabled_toolsets == ("files", "terminal")


@pytest.mark.parametrize("effort", [None, "none", "high"])
def test_the_reasoning_effort_survives_the_contracts_form(
    effort: str | None, tmp_path: Path
) -> None:
    config = reasoning_config(settings(tmp_path, reasoning_effort=effort))
    assert reasoning_effort(config) == effort


@pytest.mark.parametrize(
    ("explicit", "profile", "shown"),
    [("mine", "work", "mine"), ("", "work", "work"), ("", "default", "hermes-agent")],
)
def test_clients_see_the_given_name_or_the_profiles_or_the_products(
    explicit: str, profile: str, shown: str
) -> None:
    assert shown_model_name(explicit, lambda: profile) == shown
