"""Model calls where no server runs a loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hermes.core.errors import Interrupted
from hermes.providers.loop_call import LoopCall
from hermes.providers.loop_thread import LoopThread


def test_the_loop_starts_once_and_runs_coroutines() -> None:
    thread = LoopThread()
    try:
        loop = thread.loop
        assert thread.loop is loop

        async def running() -> asyncio.AbstractEventLoop:
            return asyncio.get_running_loop()

        assert thread.run(running()) is loop
    finally:
        thread.close()
    assert loop.is_closed()
    thread.close()


def test_closing_ends_what_still_runs() -> None:
    thread, started = LoopThread(), threading.Event()
    outcome: list[BaseException] = []

    async def endless() -> None:
        started.set()
        await asyncio.Event().wait()

    call = LoopCall(thread.loop, endless, running=set())

    def wait() -> None:
        try:
            call.wait()
        except Interrupted as error:
            outcome.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert started.wait(5)
    thread.close()
    waiter.join(5)
    assert len(outcome) == 1


def test_a_call_on_a_closed_loop_is_refused() -> None:
    thread = LoopThread()
    loop = thread.loop
    thread.close()

    async def never() -> None:
        raise AssertionError

    call = LoopCall(loop, never, running=set())
    with pytest.raises(Interrupted, match="closed"):
        call.wait()
    call.cancel()


def test_results_and_errors_come_back_to_the_waiting_thread() -> None:
    thread = LoopThread()
    running: set[asyncio.Task[object]] = set()

    async def result() -> int:
        return 42

    async def error() -> int:
        raise KeyError("x")

    try:
        assert LoopCall(thread.loop, result, running=running).wait() == 42
        with pytest.raises(KeyError):
            LoopCall(thread.loop, error, running=running).wait()
    finally:
        thread.close()
    assert running == set()
