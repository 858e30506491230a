"""Processes are run on both event loops: asyncio's own, and the one the gateway uses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest
import uvloop

from hermes.core.ids import new_id
from hermes.processes.marks import Mark, marked


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
def job_id() -> Iterator[str]:
    """After the test, nothing that carries the job's mark is left on the machine."""
    job_id = new_id("job_")
    yield job_id
    assert marked([Mark("HERMES_JOB", job_id)]) == []
