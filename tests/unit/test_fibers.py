"""Blocking code on the event loop: it waits without holding anybody up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from hermes.fibers import blocking, is_in_fiber, run_in_fiber, wait_in_fiber

T = TypeVar("T")


async def off_loop(work: Any) -> Any:
    return await asyncio.to_thread(work)


def in_fiber(work: Callable[[], T], on_cancel: Callable[[], None] = lambda: None) -> Awaitable[T]:
    return run_in_fiber(work, off_loop, on_cancel)


async def test_the_loop_goes_on_while_a_fiber_waits() -> None:
    gate = asyncio.Event()

    def work() -> str:
        wait_in_fiber(gate.wait)
        return "through"

    fiber = asyncio.ensure_future(in_fiber(work))
    await asyncio.sleep(0)
    assert not fiber.done()
    gate.set()
    assert await fiber == "through"


async def test_a_thousand_fibers_wait_on_one_thread() -> None:
    def work(number: int) -> int:
        wait_in_fiber(lambda: asyncio.sleep(0))
        return number

    before = threading.active_count()
    done = await asyncio.gather(*(in_fiber(lambda n=n: work(n)) for n in range(1000)))
    assert done == list(range(1000))
    assert threading.active_count() == before


async def test_an_error_of_what_is_awaited_is_raised_where_the_fiber_waits() -> None:
    async def fails() -> None:
        raise ValueError("no")

    def work() -> str:
        try:
            wait_in_fiber(fails)
        except ValueError as error:
            return f"caught {error}"
        return "nothing was raised"

    assert await in_fiber(work) == "caught no"


async def test_an_error_of_the_code_itself_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_fiber(lambda: 1 // 0)


async def test_cancelling_lets_the_code_come_to_its_end_in_order() -> None:
    steps: list[str] = []
    gate = asyncio.Event()

    def work() -> None:
        wait_in_fiber(gate.wait)
        steps.append(blocking(lambda: "kept"))

    def on_cancel() -> None:
        steps.append("told")
        gate.set()

    fiber = asyncio.ensure_future(in_fiber(work, on_cancel))
    await asyncio.sleep(0)
    fiber.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fiber
    assert steps == ["told", "kept"]


async def test_what_runs_in_a_thread_is_waited_for_although_the_caller_left() -> None:
    began, go, done = threading.Event(), threading.Event(), threading.Event()

    def tool() -> None:
        began.set()
        assert go.wait(5)
        done.set()

    fiber = asyncio.ensure_future(in_fiber(lambda: blocking(tool), go.set))
    assert await asyncio.to_thread(began.wait, 5)
    fiber.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fiber
    assert done.is_set()


async def test_what_blocks_leaves_the_loop_only_inside_a_fiber() -> None:
    here = threading.get_ident()
    assert not is_in_fiber()
    assert blocking(threading.get_ident) == here
    assert await in_fiber(lambda: blocking(threading.get_ident)) != here
    assert await in_fiber(is_in_fiber)
