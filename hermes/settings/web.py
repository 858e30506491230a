"""The settings of the web tools as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What the agent may fetch from the web, and who searches for it."""

    allow_http: bool = True
    """Whether pages may be fetched without encryption; nothing secret is sent along."""
    max_bytes: int = 10 * 1024 * 1024
    timeout_seconds: float = 20.0
    """For one page, redirects included; and for one search."""
    search_backend: Literal["searxng", "brave"] = "searxng"
    search_url: str = ""
    """Where SearXNG is; for Brave only where it is not at its usual place."""
    search_key: str = field(default="", repr=False)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset(filter(None, (self.search_key,)))
