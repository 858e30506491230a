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

NO_KEY = "none"
"""For a provider that wants none; CLIs insist on one."""

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
    has_relay = can_relay and kind.provider_dialect is not None and agent.relay != "never"
    is_relayed = upstream is not None and has_relay
    if upstream is not None:
        return Credentials(upstream=upstream, is_relayed=is_relayed)
    login = {name: environ[name] for name in kind.login_variables if environ.get(name)}
    return Credentials(upstream=None, is_relayed=False, variables=login)


def plain_environment(agent: CliAgentSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """What every job of the agent may know."""
    return for_job(environ, agent.environment)


def _upstream(agent: CliAgentSettings, kind: Kind, environ: Mapping[str, str]) -> Upstream | None:
    dialect = kind.provider_dialect
    if dialect is None:
        return _named(agent)
    held = (environ.get(name, "").strip() for name in _KEYS[dialect])
    key = agent.api_key or next(filter(None, held), "") or (NO_KEY if agent.base_url else "")
    if not key:
        return None
    base_url = agent.base_url or environ.get(_PLACES[dialect], "").strip() or _VENDORS[dialect]
    return Upstream(base_url=_origin(base_url), key=key, key_header=_HEADERS[dialect])


def _named(agent: CliAgentSettings) -> Upstream | None:
    """What the operator says of a CLI that may ask any provider."""
    if not (agent.api_key or agent.base_url):
        return None
    base_url, key = _origin(agent.base_url or ""), agent.api_key or NO_KEY
    return Upstream(base_url=base_url, key=key, key_header="authorization")


def _origin(base_url: str) -> str:
    """OpenAI's clients call the address with `/v1` the base URL, Anthropic's the one without."""
    return base_url.rstrip("/").removesuffix("/v1")
