"""The door `gateway.config`, and the two doors of the command line over the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import GatewayConfig, Platform, PlatformConfig, load_gateway_config
from hermes_cli.profiles import get_active_profile_name
from hermes_cli.tools_config import _get_platform_tools


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENABLED", "HOST", "PORT", "KEY", "CORS_ORIGINS", "MODEL_NAME"):
        monkeypatch.delenv(f"API_SERVER_{name}", raising=False)
    monkeypatch.delenv("HERMES_PROFILE", raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


def test_nothing_is_connected_until_it_is_enabled() -> None:
    assert load_gateway_config().platforms == {}
    config = GatewayConfig()
    config.platforms[Platform.API_SERVER] = PlatformConfig(enabled=False)
    assert config.get_connected_platforms() == []
    config.platforms[Platform.API_SERVER].enabled = True
    assert config.get_connected_platforms() == [Platform.API_SERVER]


def test_every_config_has_an_extra_of_its_own() -> None:
    PlatformConfig().extra["port"] = 1
    assert PlatformConfig().extra == {}


def test_the_environment_configures_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_SERVER_ENABLED", "true")
    monkeypatch.setenv("API_SERVER_HOST", "0.0.0.0")
    monkeypatch.setenv("API_SERVER_PORT", "9999")
    monkeypatch.setenv("API_SERVER_CORS_ORIGINS", "http://a.example, http://b.example")
    assert load_gateway_config().platforms[Platform.API_SERVER] == PlatformConfig(
        enabled=True,
        extra={
            "host": "0.0.0.0",
            "port": 9999,
            "cors_origins": ["http://a.example", "http://b.example"],
        },
    )


def test_a_key_alone_enables_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_SERVER_KEY", "k-mine")
    config = load_gateway_config().platforms[Platform.API_SERVER]
    assert (config.enabled, config.extra) == (True, {"key": "k-mine"})


@pytest.mark.parametrize("word", ["false", "0", "perhaps"])
def test_what_is_not_a_yes_keeps_it_off(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_SERVER_KEY", "k-mine")
    monkeypatch.setenv("API_SERVER_ENABLED", word)
    assert load_gateway_config().get_connected_platforms() == []


def test_a_port_that_is_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_SERVER_ENABLED", "yes")
    monkeypatch.setenv("API_SERVER_PORT", "not-a-port")
    assert load_gateway_config().platforms[Platform.API_SERVER].extra == {}


def test_no_secret_shows_in_a_repr() -> None:
    config = GatewayConfig(
        platforms={Platform.API_SERVER: PlatformConfig(extra={"key": "hunter2"}, token="hunter2")}
    )
    assert "hunter2" not in repr(config)


def test_the_profile_and_the_toolsets_come_from_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert get_active_profile_name() == "default"
    monkeypatch.setenv("HERMES_PROFILE", "lucas")
    assert get_active_profile_name() == "lucas"
    assert _get_platform_tools({"tools": {"toolsets": ["files"]}}, "api_server") == {"files"}
