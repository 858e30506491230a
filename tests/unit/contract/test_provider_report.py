"""How the configured providers fare, for anybody to see."""

from __future__ import annotations

from pathlib import Path

from hermes.agent.chain import spot_of
from hermes.contract.provider_report import cooling_down, provider_report
from hermes.metrics.exposition import exposition
from hermes.providers.health import Health
from hermes.settings.model import (
    AgentSettings,
    AliasSettings,
    ListenerSettings,
    LogSettings,
    ProviderSettings,
    Settings,
)

FIRST = ProviderSettings(
    provider="openai",
    model="m",
    base_url="https://private.example/v1",
    api_key="sk-1",
    api_keys=("sk-1", "sk-2"),
)
SECOND = ProviderSettings(provider="custom", model="n", base_url="http://localhost:1")


def settings(home: Path) -> Settings:
    return Settings(
        home=home,
        listener=ListenerSettings(),
        agent=AgentSettings(provider=FIRST, fallbacks=(SECOND,), workspace=home),
        log=LogSettings(),
        models={"same": AliasSettings(provider=SECOND), "own": AliasSettings(provider=FIRST)},
    )


def test_every_provider_and_key_is_reported_once(tmp_path: Path) -> None:
    health = Health()
    health.rest(spot_of(FIRST), 30, "rate_limited", retry_after=120)
    report = provider_report(settings(tmp_path), health)
    assert [(each["provider"], each["model"], each["key"], each["status"]) for each in report] == [
        ("openai", "m", "key 1", "cooling_down"),
        ("openai", "m", "key 2", "ok"),
        ("custom", "n", None, "ok"),
    ]
    assert report[0]["reason"] == "rate_limited"
    assert 110 < report[0]["seconds_left"] <= 120
    assert (report[1]["reason"], report[1]["seconds_left"]) == (None, 0.0)


def test_neither_keys_nor_addresses_are_shown(tmp_path: Path) -> None:
    report = provider_report(settings(tmp_path), Health())
    shown = str(report) + exposition([cooling_down(report)])
    assert "sk-" not in shown
    assert "private.example" not in shown
    assert 'seconds{provider="openai",model="m",key="key 2"} 0' in shown
