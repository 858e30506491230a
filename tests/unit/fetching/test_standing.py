"""A thread gets what a coroutine comes to, or leaves it when it is told to."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from hermes.core.errors import Interrupted
from hermes.fetching.standing import wait_for


async def _sum() -> int:
    await asyncio.sleep(0)
    return 3


async def _fail() -> None:
    raise LookupError("nothing there")


def test_the_result_and_the_errors_come_through() -> None:
    assert wait_for(_sum(), lambda: False) == 3
    with pytest.raises(LookupError, match="nothing there"):
        wait_for(_fail(), lambda: False)


def test_a_stop_ends_the_work_before_it_is_done() -> None:
    stop, ended = threading.Event(), threading.Event()

    async def endless() -> None:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(Interrupted):
        wait_for(endless(), stop.is_set)
    assert ended.is_set()


def test_a_blocked_name_server_does_not_hold_whoever_stops() -> None:
    stop, release = threading.Event(), threading.Event()

    async def look_up() -> None:
        stop.set()
        await asyncio.get_running_loop().run_in_executor(None, release.wait, 20)

    started = time.monotonic()
    with pytest.raises(Interrupted):
        wait_for(look_up(), stop.is_set)
    release.set()
    assert time.monotonic() - started < 5
