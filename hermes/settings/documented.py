"""What docs/configuration.md must mention: every option, and the other variables."""

from __future__ import annotations

from dataclasses import dataclass

from hermes.settings.options import OPTIONS


@dataclass(frozen=True, slots=True)
class SettingDoc:
    config_key: str
    """Empty for what only the environment can say."""
    env: str
    """Empty for what only config.yaml can say."""
    default: str
    sentence: str


_ENVIRONMENT_ONLY = (
    SettingDoc("", "HERMES_HOME", "~/.hermes", "The folder that holds config.yaml and all data."),
    SettingDoc(
        "",
        "API_SERVER_ENABLED",
        "true with a key",
        "Whether an embedding program serves the HTTP API.",
    ),
    SettingDoc("", "OPENAI_API_KEY", "none", "The key for OpenAI, or for OPENAI_BASE_URL."),
    SettingDoc("", "OPENAI_BASE_URL", "OpenAI's", "Any OpenAI-compatible endpoint; needs no key."),
    SettingDoc("", "ANTHROPIC_API_KEY", "none", "The key for Anthropic."),
    SettingDoc("", "ANTHROPIC_BASE_URL", "Anthropic's", "Where Anthropic's dialect is spoken."),
    SettingDoc("", "OPENROUTER_API_KEY", "none", "The key for OpenRouter."),
)

DOCUMENTED: tuple[SettingDoc, ...] = (
    *(
        SettingDoc(option.config, option.env, option.default, option.sentence)
        for option in OPTIONS.values()
        if option.config or option.env
    ),
    *_ENVIRONMENT_ONLY,
)
