"""A chain of providers, and several keys for one of them."""

from __future__ import annotations

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import SettingsSource, load_settings
from hermes.settings.model import ProviderSettings
from tests.unit.settings.conftest import WriteConfig

Environ = dict[str, str]
KEYS = {"OPENAI_API_KEY": "k-openai", "ANTHROPIC_API_KEY": "k-anthropic"}


def test_a_chain_keeps_its_order(environ: Environ, write_config: WriteConfig) -> None:
    write_config("""
provider: openai
stale_seconds: 5
fallbacks:
  - {model: small}
  - {provider: anthropic}
  - {model: llama, base_url: "http://localhost:1/v1", api_mode: codex_responses}
""")
    small, other, local = load_settings(environ=environ | KEYS).agent.fallbacks
    assert (small.provider, small.model, small.api_key) == ("openai", "small", "k-openai")
    assert (other.provider, other.api_key, other.stale_seconds) == ("anthropic", "k-anthropic", 5)
    assert (local.model, local.api_key, local.api_mode) == ("llama", None, "codex_responses")


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("fallbacks: [{model: a}]\nfallback: {model: b}", "config.yaml: fallbacks", "fallback"),
        ("fallbacks: {model: a}", "config.yaml: fallbacks", "a list of sections"),
        ("fallbacks: [small]", "config.yaml: fallbacks[1]", "a section with provider"),
        ("fallbacks: [{}]", "config.yaml: fallbacks[1].provider", "openai"),
        ("fallbacks: [{model: a}, {modle: b}]", "config.yaml: fallbacks[2].modle", "unknown"),
        (
            "fallbacks: [{model: a, api_key_env: NOT_SET}]",
            "config.yaml: fallbacks[1].api_key_env",
            "not set",
        ),
    ],
)
def test_a_wrong_chain_is_refused(
    text: str, key: str, words: str, environ: Environ, write_config: WriteConfig
) -> None:
    write_config(f"provider: openai\n{text}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ | KEYS)
    assert caught.value.key == key
    assert words in str(caught.value)


def test_several_keys_can_be_written_down(environ: Environ, write_config: WriteConfig) -> None:
    write_config("provider: openai\napi_keys: [k-1, k-2, k-1]\nkey_strategy: round_robin\n")
    found = load_settings(environ=environ | KEYS)
    provider = found.agent.provider
    assert (provider.api_key, provider.api_keys) == ("k-1", ("k-1", "k-2"))
    assert provider.key_strategy == "round_robin"
    assert found.sources["agent.api_keys"] == "config.yaml: api_keys"


@pytest.mark.parametrize("said", ["[FIRST, SECOND]", "'FIRST, SECOND'"])
def test_several_keys_can_be_held_by_variables(
    said: str, environ: Environ, write_config: WriteConfig
) -> None:
    write_config(f"provider: openai\napi_keys_env: {said}\n")
    source = SettingsSource(environ | {"FIRST": "k-1", "SECOND": "k-2"})
    assert source.current().agent.provider.api_keys == ("k-1", "k-2")


def test_a_changed_variable_is_noticed(environ: Environ, write_config: WriteConfig) -> None:
    write_config("""
provider: openai
api_keys_env: [FIRST, SECOND]
fallbacks: [{provider: anthropic, api_keys_env: [THIRD, FIRST]}]
""")
    variables = environ | {"FIRST": "k-1", "SECOND": "k-2", "THIRD": "k-3"}
    source = SettingsSource(variables)
    assert source.current().agent.fallbacks[0].api_keys == ("k-3", "k-1")
    variables["THIRD"] = "k-4"
    assert source.current().agent.fallbacks[0].api_keys == ("k-4", "k-1")


def test_every_section_may_have_several_keys(environ: Environ, write_config: WriteConfig) -> None:
    write_config("""
provider: openai
api_keys: [k-1, k-2]
fallback: {provider: anthropic, api_keys: [k-3, k-4], key_strategy: round_robin}
models:
  same: {model: small}
  own: {model: small, api_key: k-5}
  pool: {model: small, api_keys: [k-6, k-7]}
""")
    found = load_settings(environ=environ)
    assert found.agent.fallbacks[0].api_keys == ("k-3", "k-4")
    assert found.agent.fallbacks[0].key_strategy == "round_robin"
    models = {name: alias.provider for name, alias in found.models.items()}
    assert models["same"].api_keys == ("k-1", "k-2")
    assert (models["own"].api_key, models["own"].api_keys) == ("k-5", ())
    assert (models["pool"].api_key, models["pool"].api_keys) == ("k-6", ("k-6", "k-7"))
    assert found.secrets >= {f"k-{number}" for number in range(1, 8)}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("api_key: hunter2\napi_keys: [hunter3]", "config.yaml: api_keys"),
        ("api_key: hunter2\napi_keys_env: [FIRST]", "config.yaml: api_keys_env"),
        ("api_keys: [hunter2]\napi_keys_env: [FIRST]", "config.yaml: api_keys_env"),
        ("api_keys: []", "config.yaml: api_keys"),
        ("api_keys: [[hunter2]]", "config.yaml: api_keys"),
        ("api_keys_env: [hunter-2]", "config.yaml: api_keys_env"),
        ("api_keys_env: [UNSET_hunter2]", "config.yaml: api_keys_env"),
        ("key_strategy: random", "config.yaml: key_strategy"),
        ("models: {x: {api_key: hunter2, api_keys: [hunter3]}}", "config.yaml: models.x.api_keys"),
    ],
)
def test_wrong_keys_are_refused_without_being_shown(
    text: str, key: str, environ: Environ, write_config: WriteConfig
) -> None:
    write_config(f"provider: openai\n{text}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ | KEYS | {"FIRST": "hunter4"})
    assert caught.value.key == key
    assert "hunter" not in str(caught.value)


def test_keys_stay_with_the_provider_they_belong_to(
    environ: Environ, write_config: WriteConfig
) -> None:
    write_config("provider: openai\napi_keys: [k-1, k-2]\n")
    found = load_settings(environ=environ | KEYS | {"HERMES_PROVIDER": "anthropic"})
    assert found.agent.provider.api_keys == ()
    assert found.agent.provider.api_key == "k-anthropic"


def test_keys_need_a_provider(environ: Environ, write_config: WriteConfig) -> None:
    write_config("api_keys: [k-1, k-2]\n")
    with pytest.raises(SettingsError, match="whose key api_keys is"):
        load_settings(environ=environ)


@pytest.mark.parametrize(
    "text",
    [
        "api_keys: [k-1]",
        "fallbacks: [{model: m, api_key: k-1}]",
        "fallback: {model: m, api_keys: [k-1]}",
    ],
)
def test_a_file_with_keys_that_others_can_read_is_a_warning(
    text: str, environ: Environ, write_config: WriteConfig
) -> None:
    write_config(f"provider: openai\n{text}\n").chmod(0o644)
    assert any("chmod 600" in warning for warning in load_settings(environ=environ | KEYS).warnings)


def test_no_key_shows_in_a_repr() -> None:
    shown = repr(ProviderSettings(provider="x", model="m", api_key="k-1", api_keys=("k-1", "k-2")))
    assert "k-" not in shown
