"""Where a provider lives and how to be let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import yarl

from hermes.core.errors import SettingsError
from hermes.providers.anthropic_blocks import API_MODE as ANTHROPIC_MODE

ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Endpoint:
    """One provider address with its credentials; its repr shows neither key nor headers."""

    base_url: str
    api_key: str | None
    api_mode: str
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_timeout: float = 10
    stale_timeout: float = 180
    """Seconds without a byte after which a stream counts as stalled."""
    thinking_timeout: float = 600
    """The same while a model thinks, and the most that an answer in one piece may take."""

    def __repr__(self) -> str:
        return f"Endpoint({self.host}, {self.api_mode})"

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for endpoints that are reached in the same way."""
        return (
            self.base_url,
            self.api_key,
            self.api_mode,
            self.connect_timeout,
            *self.headers.items(),
        )

    @property
    def host(self) -> str:
        """The provider's name in errors."""
        url = yarl.URL(self.base_url)
        return f"{url.host}:{url.explicit_port}" if url.explicit_port else str(url.host)

    @property
    def longest_silence(self) -> float:
        return max(self.stale_timeout, self.thinking_timeout)

    def secrets(self) -> tuple[str, ...]:
        """Everything that must not appear in an error, should the provider repeat it."""
        password = yarl.URL(self.base_url).password
        return tuple(filter(None, (self.api_key, password, *self.headers.values())))


def url_for(endpoint: Endpoint, path: str) -> yarl.URL:
    """The address of one call, such as `chat/completions`."""
    try:
        url = yarl.URL(endpoint.base_url.rstrip("/"))
    except ValueError:
        url = yarl.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError("base_url", url.scheme or "no scheme", "http://… or https://…")
    # Anthropic's base URL is written without the version that all others include.
    if endpoint.api_mode == ANTHROPIC_MODE and url.name != "v1":
        url = url / "v1"
    return url / path


def headers_for(endpoint: Endpoint) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "hermes-gateway"}
    # Compressed event streams arrive in lumps, and a small body may unpack to a huge one.
    headers["Accept-Encoding"] = "identity"
    key = (endpoint.api_key or "").strip()
    if not key.isprintable():
        raise SettingsError("api_key", "a secret value", "a key without control characters")
    if endpoint.api_mode == ANTHROPIC_MODE:
        headers["anthropic-version"] = ANTHROPIC_VERSION
        if key:
            headers["x-api-key"] = key
    elif key:
        headers["Authorization"] = f"Bearer {key}"
    return {**headers, **endpoint.headers}
