"""Who searches the web is said, and how to get somebody who does."""

from __future__ import annotations

from hermes.settings.web import WebSettings
from hermes_cli import doctor_web
from hermes_cli.doctor_finding import Level


def test_without_an_engine_it_is_said_how_to_get_one() -> None:
    for settings, wanted in (
        (WebSettings(), "web.search_url"),
        (WebSettings(search_backend="brave"), "web.search_key_env"),
    ):
        found = doctor_web.search(settings)
        assert found.level is Level.OK
        assert wanted in found.fix


def test_a_configured_engine_is_named_without_its_key() -> None:
    searxng = doctor_web.search(WebSettings(search_url="http://127.0.0.1:8080"))
    assert searxng.detail == "SearXNG at http://127.0.0.1:8080"
    brave = doctor_web.search(WebSettings(search_backend="brave", search_key="brave-key-1"))
    assert brave.detail == "Brave Search, with a key"
