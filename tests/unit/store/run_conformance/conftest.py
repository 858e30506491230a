"""A place for runs of every engine, and a first worker in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.core.run_ports import RunStore
from tests.unit.store.run_conformance.engines import ENGINES, LEASE, Clock, Place


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.__name__)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made: Place = request.param(tmp_path)
    yield made
    made.close()


@pytest.fixture
def clock(place: Place) -> Clock:
    return place.clock


@pytest.fixture
def store(place: Place) -> RunStore:
    """Of the worker `w1`."""
    opened = place.store()
    opened.register("w1", lease_seconds=LEASE)
    return opened


@pytest.fixture
def other(place: Place) -> RunStore:
    """Of the worker `w2`, which has been there as long as `w1`."""
    opened = place.store()
    opened.register("w2", lease_seconds=LEASE)
    return opened
