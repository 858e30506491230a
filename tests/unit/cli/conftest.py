"""A home folder of its own for every test, and no provider from the developer's environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hermes.settings.documented import DOCUMENTED
from hermes_state import SessionDB


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for doc in DOCUMENTED:
        if doc.env:
            monkeypatch.delenv(doc.env, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("HERMES_HOME", str(folder))
    monkeypatch.setenv("API_SERVER_PORT", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder


@pytest.fixture
def store(home: Path) -> Iterator[SessionDB]:
    db = SessionDB(home / "state.db")
    yield db
    db.close()


@pytest.fixture
def cli() -> CliRunner:
    return CliRunner()
