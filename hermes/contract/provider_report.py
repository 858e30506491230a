"""How the configured providers fare, in words and numbers for those who run the gateway.

No addresses and no keys: it is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hermes.agent.chain import spot_of
from hermes.metrics.series import Gauge
from hermes.providers.health import Health
from hermes.settings.model import ProviderSettings, Settings

OK = "ok"
COOLING_DOWN = "cooling_down"


def provider_report(settings: Settings, health: Health) -> list[dict[str, Any]]:
    """Every provider and key that may be asked, in the order in which they are."""
    asked = [settings.agent.provider, *settings.agent.fallbacks]
    asked += [alias.provider for alias in settings.models.values()]
    seen: dict[Any, dict[str, Any]] = {}
    for provider in asked:
        for key, entrance in _keys_of(provider):
            seen.setdefault(spot_of(entrance), _state(entrance, key, health))
    return list(seen.values())


def cooling_down(report: list[dict[str, Any]]) -> Gauge:
    """The same as a metric."""
    readings = [
        (
            [(label, str(entry[label] or "")) for label in ("provider", "model", "key")],
            float(entry["seconds_left"]),
        )
        for entry in report
    ]
    return Gauge(
        "hermes_provider_cooling_down_seconds",
        "For how long a provider and key are still left alone; 0 when they are asked.",
        readings,
    )


def _keys_of(provider: ProviderSettings) -> Iterator[tuple[str | None, ProviderSettings]]:
    if not provider.api_keys:
        yield None, provider
    for number, key in enumerate(provider.api_keys, 1):
        yield f"key {number}", replace(provider, api_key=key)


def _state(provider: ProviderSettings, key: str | None, health: Health) -> dict[str, Any]:
    rest = health.resting(spot_of(provider))
    return {
        "provider": provider.provider,
        "model": provider.model,
        "key": key,
        "status": OK if rest is None else COOLING_DOWN,
        "reason": None if rest is None else rest.reason,
        "seconds_left": 0.0 if rest is None else round(health.left(spot_of(provider)), 1),
    }
