"""A writer reads a turn the same way, whoever made its queue and its task."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

import pytest

from hermes.contract.streams import PolledQueue, read_result, turn_view
from hermes.core.events import Idle, TextDelta
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.feed import Feed, Item

WAIT = 5.0


class FakeAgent:
    def __init__(self) -> None:
        self.reasons: list[str] = []

    def interrupt(self, reason: str) -> None:
        self.reasons.append(reason)


def unfinished() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


def finished() -> asyncio.Future[Any]:
    task = unfinished()
    task.set_result(({}, {}))
    return task


async def take(source: PolledQueue) -> list[Item]:
    return await asyncio.wait_for(source.take(), WAIT)


async def test_a_plain_queue_is_read_in_order_up_to_its_sentinel() -> None:
    foreign: queue.Queue[Any] = queue.Queue()
    for item in ("a", TextDelta("b"), None):
        foreign.put(item)
    assert await take(PolledQueue(foreign, unfinished())) == [TextDelta("a"), TextDelta("b"), None]


async def test_nothing_is_taken_together_with_what_comes_after_the_sentinel() -> None:
    foreign: queue.Queue[Any] = queue.Queue()
    for item in ("a", None, "late"):
        foreign.put(item)
    assert await take(PolledQueue(foreign, unfinished())) == [TextDelta("a"), None]


async def test_a_queue_without_sentinel_ends_with_its_task() -> None:
    foreign: queue.Queue[Any] = queue.Queue()
    foreign.put("a")
    source = PolledQueue(foreign, finished())
    assert await take(source) == [TextDelta("a")]
    assert await take(source) == [None]


async def test_what_comes_while_the_reader_waits_is_taken() -> None:
    foreign: queue.Queue[Any] = queue.Queue()
    reader = asyncio.create_task(PolledQueue(foreign, unfinished()).take())
    await asyncio.sleep(0)
    foreign.put("late")
    assert await asyncio.wait_for(reader, WAIT) == [TextDelta("late")]


async def test_the_last_words_of_a_task_are_heard_before_the_end() -> None:
    foreign: queue.Queue[Any] = queue.Queue()
    task = unfinished()
    source = PolledQueue(foreign, task)
    reader = asyncio.create_task(source.take())
    await asyncio.sleep(0)
    foreign.put("last")
    task.set_result(({}, {}))
    assert await asyncio.wait_for(reader, WAIT) == [TextDelta("last")]
    assert await take(source) == [None]


async def test_a_heartbeat_gets_through_an_empty_queue() -> None:
    source = PolledQueue(queue.Queue(), unfinished())
    source.put(Idle())
    assert await take(source) == [Idle()]


async def test_a_feed_is_read_directly_and_anything_else_is_polled() -> None:
    feed = Feed()
    assert turn_view(feed, finished(), None).source is feed
    assert isinstance(turn_view(queue.Queue(), finished(), None).source, PolledQueue)


async def test_a_view_interrupts_the_agent_of_the_moment() -> None:
    agent_ref: list[Any] = [None]
    view = turn_view(Feed(), finished(), agent_ref)
    view.interrupt("too early")
    agent_ref[0] = agent = FakeAgent()
    view.interrupt("now")
    assert agent.reasons == ["now"]
    turn_view(Feed(), finished(), None).interrupt("nobody is there")


def test_a_task_may_return_our_result_or_the_contracts_pair() -> None:
    ours = TurnResult(text="hi")
    assert read_result(ours) is ours
    pair: Any = ({"final_response": "", "failed": True, "error": "no"}, {})
    assert read_result(pair) == TurnResult(outcome=Outcome.FAILED, error="no", messages=[])


@pytest.mark.parametrize("value", [None, "text", ({},)])
def test_anything_else_a_task_returns_is_an_error(value: Any) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        read_result(value)
