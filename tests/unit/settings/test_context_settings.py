"""The settings of long contexts: windows of models, and who writes summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.context_options import ContextSettings
from hermes.settings.loading import load_settings
from hermes.settings.model import Settings

FIRST = """
base_url: https://llm.example.com/v1
model: large
"""


def load(home: Path, text: str, **environ: str) -> Settings:
    (home / "config.yaml").write_text(text)
    return load_settings(environ={"HERMES_HOME": str(home), **environ})


def test_what_is_not_said_has_its_default(tmp_path: Path) -> None:
    settings = load(tmp_path, FIRST)
    assert settings.context == ContextSettings()
    assert settings.agent.provider.context_window is None
    assert settings.summarizer is None


def test_every_model_has_a_window_of_its_own(tmp_path: Path) -> None:
    said = """
context: {window: 32000}
fallbacks: [{model: medium}, {model: mini, context_window: 8000}]
models:
  quick: {model: small, context_window: 16000}
  other: {model: other}
  same: {reasoning_effort: high}
"""
    settings = load(tmp_path, FIRST + said)
    assert settings.agent.provider.context_window == 32_000
    assert [each.context_window for each in settings.agent.fallbacks] == [None, 8_000]
    windows = {name: alias.provider.context_window for name, alias in settings.models.items()}
    assert windows == {"quick": 16_000, "other": None, "same": 32_000}


def test_the_window_belongs_to_the_model_that_the_file_describes(tmp_path: Path) -> None:
    settings = load(
        tmp_path, FIRST + "context: {window: 32000}", HERMES_PROVIDER="openai", OPENAI_API_KEY="k"
    )
    assert settings.agent.provider.context_window is None


def test_one_of_the_models_may_write_the_summaries(tmp_path: Path) -> None:
    said = "models: {quick: {model: small}}\ncontext: {compress_at: 0.5, summary_model: quick}"
    settings = load(tmp_path, FIRST + said)
    assert settings.context == ContextSettings(compress_at=0.5, summary_model="quick")
    assert settings.summarizer is not None
    assert settings.summarizer.model == "small"


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("context: {window: 12}", "context.window"),
        ("context: {compress_at: 1.5}", "context.compress_at"),
        ("context: {compress_at: .nan}", "context.compress_at"),
        ("context: {summary_model: nobody}", "context.summary_model"),
        ("models: {quick: {context_window: many}}", "models.quick.context_window"),
    ],
)
def test_a_mistake_is_refused_by_its_key(tmp_path: Path, said: str, key: str) -> None:
    with pytest.raises(SettingsError, match=key):
        load(tmp_path, FIRST + said)
