"""Which provider is asked, and which key goes where."""

from __future__ import annotations

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import load_settings
from hermes.settings.model import ProviderSettings
from tests.unit.settings.conftest import WriteConfig

OPENAI = ProviderSettings(
    provider="openai",
    model="gpt-5-mini",
    base_url="https://api.openai.com/v1",
    api_key="k-openai",
)
ANTHROPIC = ProviderSettings(
    provider="anthropic",
    model="claude-sonnet-4-5",
    base_url="https://api.anthropic.com",
    api_key="k-anthropic",
    api_mode="anthropic_messages",
)
OPENROUTER = ProviderSettings(
    provider="openrouter",
    model="openrouter/auto",
    base_url="https://openrouter.ai/api/v1",
    api_key="k-openrouter",
)
KEYS = {
    "OPENAI_API_KEY": "k-openai",
    "ANTHROPIC_API_KEY": "k-anthropic",
    "OPENROUTER_API_KEY": "k-openrouter",
}


@pytest.mark.parametrize(
    ("variables", "chosen", "because"),
    [
        (KEYS, OPENAI, "OPENAI_API_KEY"),
        (KEYS | {"OPENAI_API_KEY": " "}, ANTHROPIC, "ANTHROPIC_API_KEY"),
        ({"OPENROUTER_API_KEY": "k-openrouter"}, OPENROUTER, "OPENROUTER_API_KEY"),
        (KEYS | {"HERMES_PROVIDER": "anthropic"}, ANTHROPIC, "HERMES_PROVIDER"),
        (KEYS | {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, OPENAI, "OPENAI_BASE_URL"),
    ],
)
def test_the_variables_decide_in_a_fixed_order(
    variables: dict[str, str], chosen: ProviderSettings, because: str, environ: dict[str, str]
) -> None:
    found = load_settings(environ=environ | variables)
    assert found.agent.provider == chosen
    assert found.sources["agent.provider"] == because


def test_a_local_server_needs_a_url_and_a_model_but_no_key(environ: dict[str, str]) -> None:
    environ["OPENAI_BASE_URL"] = "http://localhost:11434/v1/"
    with pytest.raises(SettingsError, match=r"HERMES_MODEL: found nothing.*set HERMES_MODEL"):
        load_settings(environ=environ)
    environ["HERMES_MODEL"] = "llama"
    assert load_settings(environ=environ).agent.provider == ProviderSettings(
        provider="custom", model="llama", base_url="http://localhost:11434/v1"
    )


def test_a_wrong_url_in_a_variable_names_the_variable(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL: found 'localhost:1'"):
        load_settings(environ=environ | {"OPENAI_BASE_URL": "localhost:1"})


def test_anthropic_can_be_reached_elsewhere(environ: dict[str, str]) -> None:
    variables = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://proxy.example",
        "HERMES_MODEL": "m",
    }
    found = load_settings(environ=environ | variables).agent.provider
    assert (found.base_url, found.api_mode) == ("http://proxy.example", "anthropic_messages")


def test_the_file_wins_over_the_vendors_variables(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: anthropic")
    assert load_settings(environ=environ | KEYS).agent.provider == ANTHROPIC


def test_our_own_variables_win_over_the_file(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: openai\nmodel: in-file\napi_mode: codex_responses\n")
    found = load_settings(environ=environ | KEYS | {"HERMES_MODEL": "in-environment"})
    assert found.agent.provider.model == "in-environment"
    assert found.agent.provider.api_mode == "codex_responses"


def test_a_key_in_the_file_never_follows_a_provider_named_elsewhere(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("base_url: https://llm.example/v1\nmodel: m\napi_key: k-file\n")
    found = load_settings(environ=environ | KEYS | {"HERMES_PROVIDER": "openai"})
    assert found.agent.provider == OPENAI
    assert found.sources["agent.api_key"] == "OPENAI_API_KEY"
    assert "agent.base_url" not in found.sources


def test_a_key_in_the_file_never_follows_a_url_given_elsewhere(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("base_url: https://llm.example/v1\nmodel: m\napi_key: k-file\n")
    overrides = {"agent.base_url": "http://other.example", "agent.model": "n"}
    found = load_settings(environ=environ, overrides=overrides).agent.provider
    assert (found.base_url, found.api_key, found.model) == ("http://other.example", None, "n")


def test_a_withheld_key_is_reported_for_a_url_from_the_command_line_too(
    environ: dict[str, str],
) -> None:
    overrides = {"agent.base_url": "http://other.example", "agent.model": "n"}
    (warning,) = load_settings(environ=environ | KEYS, overrides=overrides).warnings
    assert warning.startswith("--base-url: OPENAI_API_KEY is not sent to http://other.example")
    assert "`api_key_env: OPENAI_API_KEY`" in warning


def test_a_vendors_key_is_not_sent_to_a_url_in_the_file_and_we_say_how_it_would_be(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("base_url: https://llm.example/v1\nmodel: m\n")
    found = load_settings(environ=environ | KEYS)
    assert found.agent.provider.api_key is None
    assert "`api_key_env: OPENAI_API_KEY`" in found.warnings[0]
    write_config("base_url: https://llm.example/v1\nmodel: m\napi_key_env: OPENAI_API_KEY\n")
    found = load_settings(environ=environ | KEYS)
    assert found.agent.provider.api_key == "k-openai"
    assert found.warnings == ()


def test_a_known_url_tells_the_provider(environ: dict[str, str], write_config: WriteConfig) -> None:
    write_config("base_url: https://openrouter.ai/api/v1\n")
    assert load_settings(environ=environ | KEYS).agent.provider == OPENROUTER


def test_a_provider_without_its_key_is_refused_with_the_variable_to_set(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: anthropic")
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY: found nothing"):
        load_settings(environ=environ)


def test_a_key_without_a_provider_is_refused(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("api_key: hunter2")
    with pytest.raises(SettingsError, match=r"config\.yaml: provider: found nothing"):
        load_settings(environ=environ)
    local = environ | {"OPENAI_BASE_URL": "http://localhost:1/v1", "HERMES_MODEL": "m"}
    assert load_settings(environ=local).agent.provider.api_key == "hunter2"


def test_custom_needs_a_url(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"config\.yaml: base_url: found nothing"):
        load_settings(environ=environ | {"HERMES_PROVIDER": "custom"})


def test_an_unknown_provider_is_answered_with_the_known_ones(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"HERMES_PROVIDER: found 'opnai'.*openai, anthropic"):
        load_settings(environ=environ | {"HERMES_PROVIDER": "opnai"})


def test_a_model_without_a_provider_says_that_the_demo_ignores_it(environ: dict[str, str]) -> None:
    found = load_settings(environ=environ | {"HERMES_MODEL": "gpt-5"})
    assert found.agent.provider == ProviderSettings(provider="demo", model="demo")
    assert "HERMES_MODEL has no effect" in found.warnings[0]


def test_the_demo_can_be_asked_for_whatever_else_is_configured(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: openai\nmodel: m\napi_key: k\n")
    found = load_settings(environ=environ | KEYS | {"HERMES_PROVIDER": "demo"})
    assert found.agent.provider == ProviderSettings(provider="demo", model="demo")
    assert found.warnings == ()


def test_a_fallback_with_only_a_model_stays_at_the_provider(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: openai\nfallback: {model: small}\n")
    found = load_settings(environ=environ | KEYS)
    (fallback,) = found.agent.fallbacks
    assert (fallback.model, fallback.api_key) == ("small", "k-openai")
    assert found.sources["fallback.model"] == "config.yaml: fallback.model"


def test_a_fallback_at_another_provider_brings_its_own_key(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("provider: openai\nheaders: {X-Team: blue}\nfallback: {provider: anthropic}\n")
    assert load_settings(environ=environ | KEYS).agent.fallbacks == (ANTHROPIC,)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("fallback: {model: m}", "config.yaml: fallback.provider"),
        ("provider: openai\nfallback: {api_key: hunter2}", "config.yaml: fallback.provider"),
        ('fallback: {base_url: "http://a.example"}', "config.yaml: fallback.model"),
        ("fallback: {provider: openrouter}", "OPENROUTER_API_KEY"),
    ],
)
def test_half_a_fallback_is_refused(
    text: str, key: str, environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(text)
    keys = {"OPENAI_API_KEY": "k-openai"} if "openai" in text else {}
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ | keys)
    assert caught.value.key == key


def test_the_url_variable_wins_over_the_endpoint_in_the_file(environ, write_config):
    write_config("base_url: https://file.example/v1\nmodel: from-file\napi_key: file-secret\n")
    pointed = environ | {
        "OPENAI_BASE_URL": "http://localhost:1/v1",
        "OPENAI_API_KEY": "variable-secret",
        "HERMES_MODEL": "m",
    }
    provider = load_settings(environ=pointed).agent.provider
    assert (provider.base_url, provider.model) == ("http://localhost:1/v1", "m")
    assert provider.api_key == "variable-secret", "the file's key stays with the file's endpoint"


def test_a_key_alone_does_not_change_the_provider_in_the_file(environ, write_config):
    write_config("base_url: https://file.example/v1\nmodel: from-file\napi_key: file-secret\n")
    provider = load_settings(environ=environ | {"OPENAI_API_KEY": "variable-secret"}).agent.provider
    assert provider.base_url == "https://file.example/v1"
    assert provider.api_key == "file-secret"


def test_the_same_url_in_both_places_keeps_what_the_file_says_of_it(environ, write_config):
    write_config("base_url: https://file.example/v1\nmodel: from-file\napi_key: file-secret\n")
    same = environ | {"OPENAI_BASE_URL": "https://file.example/v1/"}
    provider = load_settings(environ=same).agent.provider
    assert (provider.model, provider.api_key) == ("from-file", "file-secret")
