"""One provider and one gateway for all clients, and the table of what works, written at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.testing.fake_provider_thread import FakeProviderThread
from tests.clients.serving import Served, serving
from tests.clients.stage import Play, Stage
from tests.clients.table import Client, Table

# Set before any test imports it: LiteLLM would fetch a price list from the internet.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

_TABLE = pytest.StashKey[Table]()


@pytest.fixture(scope="session")
def play() -> Play:
    return Play()


@pytest.fixture(scope="session")
def provider(play: Play) -> Iterator[FakeProviderThread]:
    with FakeProviderThread(play) as provider:
        yield provider


@pytest.fixture(scope="session")
def served(
    provider: FakeProviderThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    asked = {
        "OPENAI_BASE_URL": provider.base_url,
        "OPENAI_API_KEY": "provider-key-0123456789",
        "HERMES_MODEL": "scripted",
    }
    with serving(tmp_path_factory.mktemp("gateway"), **asked) as served:
        yield served


@pytest.fixture
def stage(play: Play, provider: FakeProviderThread) -> Stage:
    return Stage(play, provider)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--table", type=Path, help="write the compatibility table to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = Table()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call" or not report.passed:
        _note(item, report.outcome)
    return report


def _note(item: pytest.Item, outcome: str) -> None:
    table = item.config.stash[_TABLE]
    if case := item.get_closest_marker("case"):
        table.add(_client_of(item), case.args[0], outcome)
    if suite := item.get_closest_marker("suite"):
        table.add_to_suite(suite.args[0], outcome)


def _client_of(item: pytest.Item) -> Client:
    """The client of the test's parameters, or else of its file."""
    assert isinstance(item, pytest.Function)
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("client") or item.module.CLIENT


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--table")
    if path is not None:
        path.write_text(session.config.stash[_TABLE].page())
