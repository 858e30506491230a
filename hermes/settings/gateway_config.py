"""The platforms of an embedded gateway: which are on, and how they are configured.

Unlike the settings these are mutable: embedders build and change them (see `gateway.config`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hermes.settings.api_server import listener_variables
from hermes.settings.kinds import YES_OR_NO


class Platform(Enum):
    """Where conversations come from."""

    API_SERVER = "api_server"


@dataclass(kw_only=True)
class PlatformConfig:
    enabled: bool = False
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    """For the API server: the fields of ListenerSettings; may hold its key."""
    token: str | None = field(default=None, repr=False)
    """A platform's own credential; the API server has none (its key is in `extra`)."""


@dataclass(kw_only=True)
class GatewayConfig:
    platforms: dict[Platform, PlatformConfig] = field(default_factory=dict)

    def get_connected_platforms(self) -> list[Platform]:
        return [platform for platform, config in self.platforms.items() if config.enabled]


def gateway_config(environ: Mapping[str, str]) -> GatewayConfig:
    """What the environment says now. A key alone switches the API server on."""
    found = listener_variables(environ)
    if not _is_enabled(environ, default="key" in found):
        return GatewayConfig()
    # Lists instead of tuples: `extra` looks as if it had been read from a file.
    extra = {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.items()
    }
    return GatewayConfig(platforms={Platform.API_SERVER: PlatformConfig(enabled=True, extra=extra)})


def _is_enabled(environ: Mapping[str, str], *, default: bool) -> bool:
    text = environ.get("API_SERVER_ENABLED", "").strip()
    try:
        return bool(YES_OR_NO.read(text)) if text else default
    except ValueError:
        # A word we do not know is not a yes.
        return False
