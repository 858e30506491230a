"""The options of the model's provider: who is asked, with which keys, and who else then."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.known_providers import API_MODES, KNOWN
from hermes.settings.option import Option

_API_MODE = kinds.one_of(*API_MODES)
_PROVIDER = kinds.one_of(*KNOWN)
_KEY_STRATEGY = kinds.one_of("fill_first", "round_robin")

_FIRST = (
    Option(
        name="agent.provider",
        kind=_PROVIDER,
        config="provider",
        env="HERMES_PROVIDER",
        default="the one that has a key or URL, else demo",
        sentence="Who serves the model.",
    ),
    Option(
        name="agent.model",
        kind=kinds.LINE,
        config="model",
        env="HERMES_MODEL",
        default="the provider's",
        sentence="The model to ask.",
    ),
    Option(
        name="agent.base_url",
        kind=kinds.URL,
        config="base_url",
        default="the provider's",
        sentence="Where the provider is; any OpenAI-compatible endpoint works.",
    ),
    Option(
        name="agent.api_key",
        kind=kinds.KEY,
        config="api_key",
        default="the provider's own variable",
        sentence="The key for the provider.",
    ),
    Option(
        name="agent.api_key_env",
        kind=kinds.VARIABLE,
        config="api_key_env",
        sentence="The variable that holds the provider's key, instead of `api_key`.",
    ),
    Option(
        name="agent.api_keys",
        kind=kinds.KEYS,
        config="api_keys",
        sentence="Several keys for the provider; when one fails, the next takes over.",
    ),
    Option(
        name="agent.api_keys_env",
        kind=kinds.KEY_VARIABLES,
        config="api_keys_env",
        sentence="The variables that hold these keys, instead of `api_keys`.",
    ),
    Option(
        name="agent.key_strategy",
        kind=_KEY_STRATEGY,
        config="key_strategy",
        default="fill_first",
        sentence="Which of several keys a turn begins with: the first that works, or each in turn.",
    ),
    Option(
        name="agent.api_mode",
        kind=_API_MODE,
        config="api_mode",
        env="HERMES_API_MODE",
        default="the provider's",
        sentence="The dialect the provider speaks.",
    ),
    Option(
        name="agent.transport",
        kind=kinds.one_of("http", "sdk"),
        config="transport",
        default="http",
        sentence="The gateway's own HTTP client, or the vendor's SDK.",
    ),
    Option(
        name="agent.headers",
        kind=kinds.HEADERS,
        config="headers",
        sentence="Extra headers for every request to the provider.",
    ),
    Option(
        name="agent.stale_seconds",
        kind=kinds.seconds(1, 86400),
        config="stale_seconds",
        default="180",
        sentence="A model stream that is silent for longer counts as broken.",
    ),
    Option(
        name="agent.reasoning_stale_seconds",
        kind=kinds.seconds(1, 86400),
        config="reasoning_stale_seconds",
        default="600",
        sentence="The same while a model thinks, and for an answer that comes in one piece.",
    ),
)

_FALLBACK = (
    Option(
        name="fallback.provider",
        kind=_PROVIDER,
        config="fallback.provider",
        default="the first provider",
        sentence="Who serves the model when the first provider fails.",
    ),
    Option(
        name="fallback.model",
        kind=kinds.LINE,
        config="fallback.model",
        default="the provider's",
        sentence="The model to ask then.",
    ),
    Option(
        name="fallback.base_url",
        kind=kinds.URL,
        config="fallback.base_url",
        default="the provider's",
        sentence="Where the fallback provider is.",
    ),
    Option(
        name="fallback.api_key",
        kind=kinds.KEY,
        config="fallback.api_key",
        default="the provider's own variable",
        sentence="The key for the fallback provider.",
    ),
    Option(
        name="fallback.api_key_env",
        kind=kinds.VARIABLE,
        config="fallback.api_key_env",
        sentence="The variable that holds that key, instead of `fallback.api_key`.",
    ),
    Option(
        name="fallback.api_keys",
        kind=kinds.KEYS,
        config="fallback.api_keys",
        sentence="Several keys for the fallback provider.",
    ),
    Option(
        name="fallback.api_keys_env",
        kind=kinds.KEY_VARIABLES,
        config="fallback.api_keys_env",
        sentence="The variables that hold these keys, instead of `fallback.api_keys`.",
    ),
    Option(
        name="fallback.key_strategy",
        kind=_KEY_STRATEGY,
        config="fallback.key_strategy",
        default="fill_first",
        sentence="Which of these keys a turn begins with.",
    ),
    Option(
        name="fallback.api_mode",
        kind=_API_MODE,
        config="fallback.api_mode",
        default="the provider's",
        sentence="The dialect the fallback provider speaks.",
    ),
    Option(
        name="fallbacks",
        kind=kinds.SECTIONS,
        config="fallbacks",
        sentence="Several fallbacks, asked in this order, instead of `fallback`.",
    ),
)

PROVIDER_OPTIONS = _FIRST + _FALLBACK
