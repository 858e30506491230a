"""What an agent says is committed together; who wants to be sure of it holds up nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from hermes.core.errors import Fenced, Interrupted
from hermes.core.events import RunStarted, TextDelta
from hermes.core.run_ports import NewEvent
from hermes.fibers import run_in_fiber
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.runs.run_feed import Link, RunFeed


class Store:
    """Commits when it is told to."""

    def __init__(self) -> None:
        self.under_way: list[Future[None]] = []
        self.asked: list[Sequence[NewEvent]] = []

    def append(self, events: Sequence[NewEvent]) -> Future[None]:
        self.asked.append(events)
        self.under_way.append(Future())
        return self.under_way[-1]


def link_to(store: Store) -> Link:
    writer = LogWriter(store.append, lambda _events: None)
    link = Link(writer, OpenLog("run_1", 1, on_failure=lambda _error: None))
    writer.put(link.log, TextDelta("Hi."))
    return link


async def no_thread(work: Callable[[], Any]) -> Any:
    raise AssertionError("a thread was asked for")


async def test_an_agent_on_the_event_loop_waits_for_the_commit_without_a_thread() -> None:
    store = Store()
    link = link_to(store)
    agent = asyncio.create_task(run_in_fiber(link.barrier, no_thread, lambda: None))
    await asyncio.sleep(0)
    assert not agent.done()
    store.under_way[0].set_result(None)
    await asyncio.wait_for(agent, 5)


async def test_what_cannot_be_committed_interrupts_the_agent() -> None:
    store = Store()
    link = link_to(store)
    agent = asyncio.create_task(run_in_fiber(link.barrier, no_thread, lambda: None))
    await asyncio.sleep(0)
    store.under_way[0].set_exception(Fenced("Taken over."))
    with pytest.raises(Interrupted):
        await asyncio.wait_for(agent, 5)


async def test_an_agent_that_is_cancelled_still_waits_for_its_commit() -> None:
    store = Store()
    link = link_to(store)
    cancelled = asyncio.Event()
    agent = asyncio.create_task(run_in_fiber(link.barrier, no_thread, cancelled.set))
    await asyncio.sleep(0)
    agent.cancel()
    await asyncio.wait_for(cancelled.wait(), 5)
    assert not agent.done()
    store.under_way[0].set_result(None)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(agent, 5)


def test_an_agent_in_a_thread_of_its_own_just_blocks() -> None:
    store = Store()
    link = link_to(store)
    store.under_way[0].set_result(None)
    link.barrier()


def test_what_is_held_back_is_committed_with_what_follows() -> None:
    store = Store()
    link = link_to(store)
    store.under_way[0].set_result(None)
    feed = RunFeed(link, wants_text=True)

    feed.hold(RunStarted(1))
    assert len(store.under_way) == 1
    feed.put(TextDelta("Hello."))

    assert [type(new.event) for new in store.asked[1]] == [RunStarted, TextDelta]


def test_whoever_waits_for_what_is_held_back_has_it_committed() -> None:
    store = Store()
    link = link_to(store)
    store.under_way[0].set_result(None)
    RunFeed(link, wants_text=True).hold(RunStarted(1))

    flushed = link.flushed()
    store.under_way[1].set_result(None)

    assert flushed.result(5) is None


def test_what_nothing_follows_is_committed_on_demand() -> None:
    store = Store()
    link = link_to(store)
    store.under_way[0].set_result(None)
    RunFeed(link, wants_text=True).hold(RunStarted(1))

    link.writer.flush()
    link.writer.flush()

    assert [[new.seq for new in events] for events in store.asked] == [[1], [2]]
