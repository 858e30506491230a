"""The listener of an embedded API server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import SettingsError
from hermes.settings.api_server import as_extra, listener_from
from hermes.settings.model import ListenerSettings

FOREIGN = {
    "API_SERVER_HOST": "10.0.0.1",
    "API_SERVER_PORT": "7777",
    "API_SERVER_KEY": "k-env",
    "API_SERVER_CORS_ORIGINS": "http://localhost:3000, http://127.0.0.1:3000",
    "API_SERVER_MODEL_NAME": "env-bot",
}
ORIGINS = ("http://localhost:3000", "http://127.0.0.1:3000")


def test_nothing_said_means_the_defaults() -> None:
    assert listener_from({}, {}) == ListenerSettings()


def test_the_environment_is_read() -> None:
    assert listener_from({}, FOREIGN) == ListenerSettings(
        host="10.0.0.1", port=7777, key="k-env", cors_origins=ORIGINS, model_name="env-bot"
    )


def test_what_the_config_says_wins() -> None:
    extra: dict[str, Any] = {
        "host": "0.0.0.0",
        "port": "9999",
        "key": "",
        "cors_origins": [],
        "model_name": None,
    }
    assert listener_from(extra, FOREIGN) == ListenerSettings(
        host="0.0.0.0", port=9999, key="", cors_origins=(), model_name="env-bot"
    )


def test_origins_may_be_a_list_or_separated_by_commas() -> None:
    for origins in (list(ORIGINS), ", ".join(ORIGINS)):
        assert listener_from({"cors_origins": origins}, {}).cors_origins == ORIGINS


@pytest.mark.parametrize("port", ["not-a-port", "70000", "-1"])
def test_a_port_in_the_environment_that_is_none_is_passed_over(port: str) -> None:
    assert listener_from({}, {"API_SERVER_PORT": port}).port == 8642


def test_a_wrong_value_in_the_config_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"extra\['port'\]: found 'x'"):
        listener_from({"port": "x"}, {})


def test_a_key_that_cannot_be_sent_is_refused_rather_than_dropped() -> None:
    with pytest.raises(SettingsError, match="API_SERVER_KEY: found a secret value"):
        listener_from({}, {"API_SERVER_KEY": "a\nb"})


def test_keys_of_other_platforms_are_none_of_its_business() -> None:
    assert listener_from({"chat": "x"}, {}) == ListenerSettings()


@given(
    st.builds(
        ListenerSettings,
        host=st.sampled_from(["127.0.0.1", "::1", "example.org"]),
        port=st.integers(0, 65535),
        key=st.sampled_from(["", "k", "k-2"]),
        cors_origins=st.lists(st.sampled_from(ORIGINS), unique=True).map(tuple),
        model_name=st.sampled_from(["", "bot"]),
        max_body_bytes=st.integers(1024, 2**30),
        drain_seconds=st.floats(0, 3600),
        keepalive_seconds=st.floats(0.01, 3600),
    )
)
def test_a_listener_survives_the_way_through_a_config(listener: Any) -> None:
    assert listener_from(as_extra(listener), FOREIGN) == listener
