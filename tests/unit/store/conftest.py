"""Stores that are closed when their test ends, and bounded waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.store.responses import ResponseStore
from hermes.store.sessions import SessionDB


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionDB]:
    store = SessionDB(tmp_path / "state.db")
    yield store
    store.close()


@pytest.fixture(params=["in memory", "in a file"])
def responses(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ResponseStore]:
    in_memory = request.param == "in memory"
    store = ResponseStore(max_size=10_000, db_path=None if in_memory else tmp_path / "responses.db")
    yield store
    store.close()
