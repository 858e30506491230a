"""The providers known by name: where they are, what they speak, where their key is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

CHAT_COMPLETIONS = "chat_completions"
CODEX_RESPONSES = "codex_responses"
ANTHROPIC_MESSAGES = "anthropic_messages"
API_MODES = (CHAT_COMPLETIONS, CODEX_RESPONSES, ANTHROPIC_MESSAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProvider:
    """An empty field means: there is none, the user has to say."""

    name: str
    base_url: str = ""
    api_mode: str = CHAT_COMPLETIONS
    key_variable: str = ""
    base_url_variable: str = ""
    default_model: str = ""


DEMO = KnownProvider(name="demo", default_model="demo")
"""The built-in scripted model: needs no key and no network."""

OPENAI = KnownProvider(
    name="openai",
    base_url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    base_url_variable="OPENAI_BASE_URL",
    default_model="gpt-5-mini",
)

ANTHROPIC = KnownProvider(
    name="anthropic",
    base_url="https://api.anthropic.com",
    api_mode=ANTHROPIC_MESSAGES,
    key_variable="ANTHROPIC_API_KEY",
    base_url_variable="ANTHROPIC_BASE_URL",
    default_model="claude-sonnet-4-5",
)

OPENROUTER = KnownProvider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    key_variable="OPENROUTER_API_KEY",
    default_model="openrouter/auto",
)

CUSTOM = KnownProvider(
    name="custom", key_variable="OPENAI_API_KEY", base_url_variable="OPENAI_BASE_URL"
)
"""Any other endpoint that speaks one of the dialects: local servers, proxies, other vendors."""

KNOWN: Mapping[str, KnownProvider] = MappingProxyType(
    {known.name: known for known in (DEMO, OPENAI, ANTHROPIC, OPENROUTER, CUSTOM)}
)


def provider_at(base_url: str) -> KnownProvider:
    """Whose endpoint this is, judged by the host alone; `custom` when nobody's we know."""
    host = urlsplit(base_url).hostname
    for known in KNOWN.values():
        if known.base_url and urlsplit(known.base_url).hostname == host:
            return known
    return CUSTOM
