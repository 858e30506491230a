"""Settings for code without arguments: cheap to ask, always current, safe from any thread."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import SettingsSource
from tests.unit.settings.conftest import WriteConfig


def rewrite(path: Path, text: str) -> None:
    """As editors do: a new file under the old name, so that the inode changes."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_the_same_settings_come_back_while_nothing_changes(environ: dict[str, str]) -> None:
    source = SettingsSource(environ)
    assert source.current() is source.current()


def test_a_changed_variable_shows_at_the_next_call(environ: dict[str, str]) -> None:
    source = SettingsSource(environ)
    assert source.current().listener.port == 8642
    environ["API_SERVER_PORT"] = "9000"
    assert source.current().listener.port == 9000
    del environ["API_SERVER_PORT"]
    assert source.current().listener.port == 8642


def test_a_changed_file_shows_at_the_next_call(
    environ: dict[str, str], home: Path, write_config: WriteConfig
) -> None:
    source = SettingsSource(environ)
    assert source.current().listener.port == 8642
    path = write_config("server: {port: 1}")
    assert source.current().listener.port == 1
    rewrite(path, "server: {port: 2}")
    assert source.current().listener.port == 2
    path.unlink()
    assert source.current().listener.port == 8642


def test_a_variable_named_in_the_file_is_watched_too(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("server: {key_env: MY_KEY}")
    environ["MY_KEY"] = "first"
    source = SettingsSource(environ)
    assert source.current().listener.key == "first"
    environ["MY_KEY"] = "second"
    assert source.current().listener.key == "second"


def test_another_home_means_other_settings(environ: dict[str, str], tmp_path: Path) -> None:
    source = SettingsSource(environ)
    source.current()
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.yaml").write_text("profile: other")
    environ["HERMES_HOME"] = str(other)
    assert source.current().profile == "other"
    assert source.current().home == other


def test_pinned_options_win_and_outlive_a_change_of_the_file(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    source = SettingsSource(environ)
    assert source.pin({"listener.port": 7, "listener.host": None}).listener.port == 7
    write_config("server: {port: 1, host: there}")
    assert source.current().listener.port == 7
    assert source.current().listener.host == "there"


def test_a_first_reading_that_fails_says_so_every_time(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    path = write_config("server: {port: many}")
    source = SettingsSource(environ)
    for _ in range(2):
        with pytest.raises(SettingsError):
            source.current()
    rewrite(path, "server: {port: 5}")
    assert source.current().listener.port == 5


def test_a_broken_edit_is_logged_once_and_the_settings_before_it_stay(
    environ: dict[str, str], write_config: WriteConfig, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_config("server: {port: 1}")
    source = SettingsSource(environ)
    source.current()
    rewrite(path, "server: {port: ")
    with caplog.at_level(logging.WARNING):
        assert [source.current().listener.port for _ in range(3)] == [1, 1, 1]
    assert len(caplog.records) == 1
    rewrite(path, "server: {port: 3}")
    assert source.current().listener.port == 3


def test_a_broken_variable_is_refused_at_once(environ: dict[str, str]) -> None:
    source = SettingsSource(environ)
    source.current()
    environ["API_SERVER_PORT"] = "many"
    with pytest.raises(SettingsError, match="API_SERVER_PORT"):
        source.current()


def test_many_threads_see_one_reading(environ: dict[str, str]) -> None:
    source = SettingsSource(environ)
    together = threading.Barrier(8)
    seen: list[int] = []

    def ask() -> None:
        together.wait(timeout=10)
        seen.append(id(source.current()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert seen == [id(source.current())] * 8


def test_asking_the_real_environment_is_cheap(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    source = SettingsSource()
    source.current()

    def cost() -> float:
        start = time.thread_time_ns()
        for _ in range(200):
            source.current()
        return (time.thread_time_ns() - start) / 200 / 1000

    # CPU time, the best of several, and room for large environments and slow machines.
    allowed = 30 + len(os.environ)
    assert min(cost() for _ in range(5)) < allowed
