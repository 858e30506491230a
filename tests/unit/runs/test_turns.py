"""Turns are started so that their end cannot be missed, and drained so that none runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hermes.core.errors import Unavailable
from hermes.core.events import TextDelta
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.feed import Feed
from hermes.runs.turns import AgentRef, RunningTurns, interrupt, start_turn

WAIT = 5.0
CALL = TurnCall(user_message="hi")


class FakeAgent:
    """Notes why it was interrupted."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.was_interrupted = asyncio.Event()

    def interrupt(self, reason: str) -> None:
        self.reasons.append(reason)
        self.was_interrupted.set()


class TaskLikeThing:
    """All that the contract promises an embedder's own task to have."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[Any], None]] = []

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)


async def _say_hello(call: TurnCall, feed: Feed | None, agent_ref: AgentRef) -> TurnResult:
    assert call is CALL
    assert feed is not None
    agent_ref[0] = "the agent"
    feed.put(TextDelta("hello"))
    return TurnResult(text="hello")


async def test_a_started_turn_tells_its_events_and_then_the_end() -> None:
    turn = start_turn(_say_hello, CALL)
    assert await asyncio.wait_for(turn.task, WAIT) == TurnResult(text="hello")
    assert turn.agent_ref == ["the agent"]
    assert await asyncio.wait_for(turn.feed.take(), WAIT) == [TextDelta("hello"), None]


async def test_the_feed_of_a_turn_that_raised_ends_too() -> None:
    async def raising(*_: Any) -> TurnResult:
        raise ZeroDivisionError

    turn = start_turn(raising, CALL)
    assert await asyncio.wait_for(turn.feed.take(), WAIT) == [None]
    with pytest.raises(ZeroDivisionError):
        await turn.task


async def test_the_feed_of_a_cancelled_turn_ends_too() -> None:
    async def endless(*_: Any) -> TurnResult:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    turn = start_turn(endless, CALL)
    await asyncio.sleep(0)
    turn.task.cancel()
    assert await asyncio.wait_for(turn.feed.take(), WAIT) == [None]


async def test_one_callback_closes_the_feed_before_it_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The contract: an embedder may replace `ensure_future` and call the callback himself."""
    task = TaskLikeThing()
    monkeypatch.setattr(asyncio, "ensure_future", lambda work: (work.close(), task)[1])
    turn = start_turn(_say_hello, CALL)
    [closing] = task.callbacks
    assert turn.feed.empty()
    closing(task)
    assert turn.feed.get_nowait() is None
    assert turn.feed.empty()


@pytest.mark.parametrize("agent_ref", [None, [], [None]])
def test_there_is_nothing_to_interrupt_without_an_agent(agent_ref: AgentRef | None) -> None:
    interrupt(agent_ref, "stop")


async def test_an_agent_is_interrupted_with_the_reason() -> None:
    agent = FakeAgent()
    interrupt([agent], "stop")
    assert agent.reasons == ["stop"]


async def _turn(running: RunningTurns, agent: FakeAgent, done: asyncio.Event) -> None:
    with running.tracked([agent]):
        await done.wait()


async def _started(running: RunningTurns) -> tuple[FakeAgent, asyncio.Event, asyncio.Task[None]]:
    """A turn that goes on until its event is set."""
    agent, done = FakeAgent(), asyncio.Event()
    task = asyncio.create_task(_turn(running, agent, done))
    await asyncio.sleep(0)
    return agent, done, task


async def test_running_turns_are_counted() -> None:
    running = RunningTurns()
    _, first_done, first = await _started(running)
    _, second_done, second = await _started(running)
    assert len(running) == 2
    first_done.set()
    await first
    assert len(running) == 1
    second_done.set()
    await second
    assert len(running) == 0


async def test_a_turn_that_raised_is_not_counted_any_more() -> None:
    running = RunningTurns()
    with pytest.raises(ZeroDivisionError), running.tracked([None]):
        raise ZeroDivisionError
    assert len(running) == 0


async def test_draining_with_nothing_running_ends_at_once() -> None:
    running = RunningTurns()
    await asyncio.wait_for(running.drain(grace=60), WAIT)


async def test_a_draining_server_refuses_new_turns_and_says_when_to_come_back() -> None:
    running = RunningTurns()
    running.admit()
    await running.drain(grace=0)
    with pytest.raises(Unavailable) as refused:
        running.admit()
    assert (refused.value.code, refused.value.headers) == ("draining", {"Retry-After": "5"})
    with pytest.raises(Unavailable), running.tracked([None]):
        raise AssertionError("unreachable")


async def test_draining_waits_for_every_turn_and_interrupts_none_in_time() -> None:
    running = RunningTurns()
    turns = [await _started(running) for _ in range(3)]
    draining = asyncio.create_task(running.drain(grace=60))
    for agent, done, task in turns:
        await asyncio.sleep(0)
        assert not draining.done()
        done.set()
        await task
        assert agent.reasons == []
    await asyncio.wait_for(draining, WAIT)


async def test_draining_waits_also_when_other_turns_ended_long_before() -> None:
    running = RunningTurns()
    with running.tracked([None]):
        pass
    _, done, task = await _started(running)
    draining = asyncio.create_task(running.drain(grace=60))
    ended, _ = await asyncio.wait([draining], timeout=0.05)
    assert not ended
    done.set()
    await task
    await asyncio.wait_for(draining, WAIT)


async def test_draining_interrupts_what_is_still_running_after_the_grace() -> None:
    running = RunningTurns()
    agent, done, task = await _started(running)
    draining = asyncio.create_task(running.drain(grace=0.01, stop_within=60))
    await asyncio.wait_for(agent.was_interrupted.wait(), WAIT)
    assert agent.reasons == ["The gateway is shutting down"]
    assert not draining.done()
    done.set()
    await task
    await asyncio.wait_for(draining, WAIT)


async def test_draining_gives_up_on_a_turn_that_does_not_stop() -> None:
    running = RunningTurns()
    agent, done, task = await _started(running)
    await asyncio.wait_for(running.drain(grace=0.01, stop_within=0.01), WAIT)
    assert len(agent.reasons) == 1
    assert len(running) == 1
    done.set()
    await task


async def test_hurrying_interrupts_every_turn_now() -> None:
    running = RunningTurns()
    turns = [await _started(running) for _ in range(2)]
    draining = asyncio.create_task(running.drain(grace=60))
    await asyncio.sleep(0)
    running.hurry()
    assert [len(agent.reasons) for agent, _, _ in turns] == [1, 1]
    for _, done, task in turns:
        done.set()
        await task
    await asyncio.wait_for(draining, WAIT)
