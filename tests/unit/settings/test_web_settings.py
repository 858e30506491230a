"""The web tools' settings are read, checked, and their key is kept secret."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import load_settings
from hermes.settings.options import HOLDERS, OPTIONS
from hermes.settings.web import WebSettings


def loaded(home: Path, text: str, **variables: str) -> WebSettings:
    (home / "config.yaml").write_text(text)
    return load_settings(environ={"HERMES_HOME": str(home), **variables}).web


def test_everything_can_be_set(tmp_path: Path) -> None:
    text = (
        "web:\n  allow_http: false\n  max_bytes: 2048\n  timeout_seconds: 3\n"
        "  search_backend: brave\n  search_url: http://127.0.0.1:8080/\n"
        "  search_key_env: SEARCH_KEY\n"
    )
    assert loaded(tmp_path, text, SEARCH_KEY="brave-key-1") == WebSettings(
        allow_http=False,
        max_bytes=2048,
        timeout_seconds=3.0,
        search_backend="brave",
        search_url="http://127.0.0.1:8080",
        search_key="brave-key-1",
    )


def test_the_engine_can_be_named_by_a_variable(tmp_path: Path) -> None:
    found = loaded(tmp_path, "", HERMES_SEARCH_URL="https://searx.example")
    assert found == WebSettings(search_url="https://searx.example")


def test_documented_defaults_are_the_real_ones() -> None:
    defaults = WebSettings()
    for field in dataclasses.fields(defaults):
        option = OPTIONS[f"web.{field.name}"]
        value = getattr(defaults, field.name)
        if option.default == "none":
            assert value == ""
        else:
            assert option.kind.read(option.default) == value
    assert {name for name in OPTIONS if name.startswith("web.")} - set(HOLDERS) == {
        f"web.{field.name}" for field in dataclasses.fields(defaults)
    }


def test_the_key_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("web: {search_key: brave-key-1}\n")
    (tmp_path / "config.yaml").chmod(0o644)
    settings = load_settings(environ={"HERMES_HOME": str(tmp_path)})
    assert "brave-key-1" in settings.secrets
    assert "brave-key-1" not in repr(settings.web)
    assert any("holds a key" in warning for warning in settings.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "web: {search_backend: google}",
        "web: {search_url: searx.example}",
        "web: {max_bytes: 1}",
        "web: {search_key_env: NOT_SET}",
        "web: {search_engine: searxng}",
    ],
)
def test_what_is_not_allowed_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        loaded(tmp_path, text)
