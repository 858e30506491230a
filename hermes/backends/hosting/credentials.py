"""What a job may know of our environment, and how it reaches its provider. Pure.

A job's environment is built up from nothing. Where the gateway holds the key itself, the job gets
one that dies with it, and reaches the provider through the gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hermes.backends.drivers.base import Kind
from hermes.backends.environment import for_job
from hermes.backends.hosting.job_tokens import Upstream
from hermes.settings.cli_settings import CliAgentSettings

KeyHeader = Literal["x-api-key", "authorization"]

_KEYS = {"anthropic": ("ANTHROPIC_API_KEY",), "responses": ("CODEX_API_KEY", "OPENAI_API_KEY")}
_PLACES = {"anthropic": "ANTHROPIC_BASE_URL", "responses": "OPENAI_BASE_URL"}
_HEADERS: Mapping[str, KeyHeader] = {"anthropic": "x-api-key", "responses": "authorization"}
_VENDORS = {"anthropic": "https://api.anthropic.com", "responses": "https://api.openai.com"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """How a job is paid for."""

    upstream: Upstream | None
    """None: the CLI's own login, in its variables or in its files."""
    is_relayed: bool
    """Whether the job is to reach it through the gateway."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The CLI's own login, where it is in variables."""


def credentials_of(
    agent: CliAgentSettings, kind: Kind, environ: Mapping[str, str], *, can_relay: bool
) -> Credentials:
    upstream = _upstream(agent, kind, environ)
    is_relayed = upstream is not None and can_relay and agent.relay != "never"
    if upstream is not None and (is_relayed or agent.api_key or agent.base_url):
        return Credentials(upstream=upstream, is_relayed=is_relayed)
    login = {name: environ[name] for name in kind.login_variables if environ.get(name)}
    return Credentials(upstream=None, is_relayed=False, variables=login)


def plain_environment(agent: CliAgentSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """What every job of the agent may know."""
    return for_job(environ, agent.environment)


def _upstream(agent: CliAgentSettings, kind: Kind, environ: Mapping[str, str]) -> Upstream | None:
    dialect = kind.provider_dialect
    if dialect is None:
        return None  # a CLI of which nobody knows how to tell it
    held = (environ.get(name, "").strip() for name in _KEYS[dialect])
    key = agent.api_key or next(filter(None, held), "")
    if not key:
        return None
    base_url = agent.base_url or environ.get(_PLACES[dialect], "").strip() or _VENDORS[dialect]
    return Upstream(base_url=_origin(base_url), key=key, key_header=_HEADERS[dialect])


def _origin(base_url: str) -> str:
    """OpenAI's clients call the address with `/v1` the base URL, Anthropic's the one without."""
    return base_url.rstrip("/").removesuffix("/v1")
