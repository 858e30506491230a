"""Proxies come from the environment, and only from there."""

from __future__ import annotations

import pytest
import yarl

from hermes.core.errors import SettingsError
from hermes.providers.proxies import proxy_for

PROVIDER = yarl.URL("https://api.example.com/v1")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_a_proxy_the_way_is_direct() -> None:
    assert proxy_for(PROVIDER) is None


def test_the_proxy_of_the_scheme_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://plain:1")
    monkeypatch.setenv("HTTPS_PROXY", "secure:2")
    assert proxy_for(PROVIDER) == "http://secure:2"
    assert proxy_for(PROVIDER.with_scheme("http")) == "http://plain:1"


def test_hosts_in_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy:1")
    monkeypatch.setenv("NO_PROXY", "localhost,.example.com")
    assert proxy_for(PROVIDER) is None
    assert proxy_for(yarl.URL("https://elsewhere.org")) == "http://proxy:1"


def test_a_proxy_we_cannot_use_is_refused_and_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://user:password@proxy:1")
    with pytest.raises(SettingsError, match="HTTPS_PROXY") as raised:
        proxy_for(PROVIDER)
    assert "password" not in str(raised.value)
