"""Blocking code on the event loop: it waits without holding anybody up."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from hermes.fibers import blocking, is_in_fiber, run_in_fiber, wait_in_fiber


async def off_loop(work: Any) -> Any:
    return await asyncio.to_thread(work)


async def test_the_loop_goes_on_while_a_fiber_waits() -> None:
    gate = asyncio.Event()

    def work() -> str:
        wait_in_fiber(gate.wait())
        return "through"

    fiber = asyncio.create_task(run_in_fiber(work, off_loop))
    await asyncio.sleep(0)
    assert not fiber.done()
    gate.set()
    assert await fiber == "through"


async def test_a_thousand_fibers_wait_on_one_thread() -> None:
    def work(number: int) -> int:
        wait_in_fiber(asyncio.sleep(0))
        return number

    before = threading.active_count()
    done = await asyncio.gather(*(run_in_fiber(lambda n=n: work(n), off_loop) for n in range(1000)))
    assert done == list(range(1000))
    assert threading.active_count() == before


async def test_an_error_of_what_is_awaited_is_raised_where_the_fiber_waits() -> None:
    async def fails() -> None:
        raise ValueError("no")

    def work() -> str:
        try:
            wait_in_fiber(fails())
        except ValueError as error:
            return f"caught {error}"
        return "nothing was raised"

    assert await run_in_fiber(work, off_loop) == "caught no"


async def test_an_error_of_the_code_itself_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        await run_in_fiber(lambda: 1 // 0, off_loop)


async def test_cancelling_is_felt_where_the_fiber_waits_and_cleans_up() -> None:
    cleaned: list[str] = []

    def work() -> None:
        try:
            wait_in_fiber(asyncio.sleep(60))
        finally:
            cleaned.append("up")

    fiber = asyncio.create_task(run_in_fiber(work, off_loop))
    await asyncio.sleep(0)
    fiber.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fiber
    assert cleaned == ["up"]


async def test_what_blocks_leaves_the_loop_only_inside_a_fiber() -> None:
    here = threading.get_ident()
    assert not is_in_fiber()
    assert blocking(threading.get_ident) == here
    assert await run_in_fiber(lambda: blocking(threading.get_ident), off_loop) != here
    assert await run_in_fiber(is_in_fiber, off_loop)
