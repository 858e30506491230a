"""The `models` section of config.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import SettingsSource, load_settings
from hermes.settings.model import AliasSettings, Settings

FIRST = """
base_url: https://llm.example.com/v1
model: large
api_key: first-key-123
headers: {X-Team: shop}
"""


def load(home: Path, text: str, **environ: str) -> Settings:
    (home / "config.yaml").write_text(text)
    return load_settings(environ={"HERMES_HOME": str(home), **environ})


def test_without_the_section_there_are_no_aliases(tmp_path: Path) -> None:
    assert load(tmp_path, FIRST).models == {}


def test_what_is_not_said_is_as_the_agent_has_it(tmp_path: Path) -> None:
    settings = load(tmp_path, FIRST + "models: {quick: {model: small}, same: }")
    quick, same = settings.models["quick"], settings.models["same"]

    assert list(settings.models) == ["quick", "same"]
    assert same == AliasSettings(provider=settings.agent.provider)
    assert (quick.provider.model, quick.provider.api_key) == ("small", "first-key-123")
    assert quick.provider.base_url == "https://llm.example.com/v1"


def test_everything_can_be_said(tmp_path: Path) -> None:
    said = """
models:
  writer:
    provider: custom
    base_url: https://other.example.com/v1
    model: prose
    api_key_env: OTHER_KEY
    api_mode: codex_responses
    reasoning_effort: high
    toolsets: []
    system_prompt: Write.
    vision: false
"""
    settings = load(tmp_path, FIRST + said, OTHER_KEY="other-key-456")
    writer = settings.models["writer"]

    assert (writer.provider.model, writer.provider.api_mode) == ("prose", "codex_responses")
    assert (writer.provider.base_url, writer.provider.api_key) == (
        "https://other.example.com/v1",
        "other-key-456",
    )
    assert (writer.reasoning_effort, writer.toolsets, writer.system_prompt, writer.vision) == (
        "high",
        (),
        "Write.",
        False,
    )
    assert {"first-key-123", "other-key-456"} <= settings.secrets
    assert "other-key-456" not in repr(settings)


def test_the_first_providers_key_never_goes_to_another_endpoint(tmp_path: Path) -> None:
    said = "models: {else: {base_url: 'https://other.example.com/v1', model: m}}"
    alias = load(tmp_path, FIRST + said, OPENAI_API_KEY="vendor-key-789").models["else"]

    assert (alias.provider.api_key, dict(alias.provider.headers)) == (None, {})


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("models: [a]", "models"),
        ("models: {a: b}", "models.a"),
        ("models: {a: {modell: b}}", "models.a.modell"),
        ("models: {a: {vision: maybe}}", "models.a.vision"),
        ("models: {a: {api_key_env: NOT_SET}}", "models.a.api_key_env"),
        ("models: {a: {api_key_env: HOME, api_key: abc}}", "models.a.api_key_env"),
        ("models: {a: {provider: custom}}", "models.a.base_url"),
    ],
)
def test_a_mistake_is_refused_by_its_key(tmp_path: Path, said: str, key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, FIRST + said)
    assert caught.value.key == f"config.yaml: {key}"


def test_the_demo_model_has_no_sisters(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "models: {a: {model: b}}")
    assert caught.value.key == "config.yaml: models.a.provider"
    assert load(tmp_path, "models: {a: {toolsets: []}}").models["a"].provider.provider == "demo"


def test_a_key_that_changes_in_its_variable_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(FIRST + "models: {a: {api_key_env: ALIAS_KEY}}")
    environ = {"HERMES_HOME": str(tmp_path), "ALIAS_KEY": "one-key-1"}
    source = SettingsSource(environ)
    before = source.current().models["a"].provider.api_key
    environ["ALIAS_KEY"] = "two-key-2"

    assert (before, source.current().models["a"].provider.api_key) == ("one-key-1", "two-key-2")
