"""The agents' threads: named, reused, bounded, and closed without waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hermes.runs.threads import Threads

WAIT = 5.0


@pytest.fixture
def threads() -> Iterator[Threads]:
    pool = Threads("turn", limit=2)
    yield pool
    pool.close()


async def test_work_runs_in_a_thread_of_the_pool(threads: Threads) -> None:
    name = await threads.run(lambda: threading.current_thread().name)
    assert name.startswith("turn")


async def test_what_work_raises_is_raised_to_the_caller(threads: Threads) -> None:
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)


async def test_threads_are_reused(threads: Threads) -> None:
    first = await threads.run(threading.get_ident)
    assert await threads.run(threading.get_ident) == first


async def test_no_more_than_the_limit_run_at_once(threads: Threads) -> None:
    go, both = threading.Event(), threading.Barrier(3)
    running: list[str] = []

    def hold() -> None:
        both.wait(WAIT)
        assert go.wait(WAIT)

    holding = [asyncio.ensure_future(threads.run(hold)) for _ in range(2)]
    await asyncio.to_thread(both.wait, WAIT)
    third = asyncio.ensure_future(threads.run(lambda: running.append("third")))
    await asyncio.sleep(0)
    assert running == []
    go.set()
    await asyncio.wait_for(asyncio.gather(*holding, third), WAIT)
    assert running == ["third"]


async def test_cancelling_the_caller_does_not_stop_the_thread(threads: Threads) -> None:
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go.wait(WAIT)
        done.set()

    caller = asyncio.ensure_future(threads.run(work))
    assert await asyncio.to_thread(begun.wait, WAIT)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    go.set()
    assert await asyncio.to_thread(done.wait, WAIT)


async def test_closing_does_not_wait_and_refuses_more_work(threads: Threads) -> None:
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(WAIT)
        done.set()

    caller = asyncio.ensure_future(threads.run(work))
    assert await asyncio.to_thread(begun.wait, WAIT)
    threads.close()
    assert not done.is_set()
    with pytest.raises(RuntimeError):
        await threads.run(lambda: None)
    go.set()
    await asyncio.wait_for(caller, WAIT)
