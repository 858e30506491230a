"""Pages are fetched and read by the settings that hold at the time, a few at once."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.contract import equipping_web
from hermes.contract.equipping import Workshop
from hermes.contract.equipping_web import ConfiguredSearch, WebReader
from hermes.core.errors import Interrupted, NotFetched
from hermes.settings.loading import load_settings
from hermes.settings.model import FetchSettings, Settings
from hermes.settings.web import WebSettings
from tests.unit.fetching.sites import giving, serving_in_thread


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = load_settings(environ={"HERMES_HOME": str(tmp_path)})
    return replace(found, fetch=FetchSettings(allow_private=True))


def never() -> bool:
    return False


def test_a_page_is_fetched_and_read(settings: Settings) -> None:
    with serving_in_thread(giving(b'{"a": 1}', "application/json")) as port:
        page = WebReader(lambda: settings).read(f"http://127.0.0.1:{port}/data", never)
    assert (page.text, page.media_type, page.size) == ('{"a": 1}', "application/json", 8)
    assert page.url == f"http://127.0.0.1:{port}/data"


def test_a_change_of_the_settings_holds_for_the_next_page(settings: Settings) -> None:
    current = settings
    reader = WebReader(lambda: current)
    with serving_in_thread(giving(b"x" * 2000, "text/plain")) as port:
        url = f"http://127.0.0.1:{port}/"
        assert reader.read(url, never).size == 2000
        current = replace(settings, web=WebSettings(max_bytes=1024))
        with pytest.raises(NotFetched, match="larger than 1,024 bytes"):
            reader.read(url, never)
        current = replace(settings, fetch=FetchSettings())
        with pytest.raises(NotFetched, match="ports 80 and 443"):
            reader.read(url, never)


def test_whoever_waits_for_a_free_place_can_be_stopped(settings: Settings) -> None:
    """All places are taken by hand; a page that has arrived waits for one."""
    reader, stop = WebReader(lambda: settings), threading.Event()
    taken = [reader._free.acquire() for _ in range(equipping_web._READ_AT_ONCE)]
    assert all(taken)
    with serving_in_thread(giving(b"text", "text/plain")) as port:
        waiting = threading.Timer(0.3, stop.set)
        waiting.start()
        with pytest.raises(Interrupted):
            reader.read(f"http://127.0.0.1:{port}/", stop.is_set)
        waiting.join()
        reader._free.release()
        assert reader.read(f"http://127.0.0.1:{port}/", never).text == "text"


def test_without_the_extractor_the_extra_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = WebReader(lambda: settings)
    assert reader.missing() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "hermes-gateway[web]" in (reader.missing() or "")


def test_searching_is_missing_until_it_is_configured(settings: Settings) -> None:
    assert "web.search_url" in (ConfiguredSearch(lambda: settings).missing() or "")
    configured = replace(settings, web=WebSettings(search_url="http://127.0.0.1:1"))
    assert ConfiguredSearch(lambda: configured).missing() is None


def test_a_workshop_brings_the_web_without_asking_for_settings() -> None:
    def unasked() -> Settings:
        raise AssertionError("nothing was used yet")

    services = Workshop(unasked).equipment.toolbox.services
    assert services.page_reader is not None
    assert services.search_engine is not None
