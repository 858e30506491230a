"""Calls of one reply that may run beside each other do, and everything is told in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from hermes.agent.tooling import MOST_AT_ONCE
from hermes.core.events import ToolFinished, ToolStarted
from hermes.core.turn import Outcome
from hermes.fibers import blocking_all, run_in_fiber
from hermes.runs.threads import Threads
from hermes.tools.base import Tool
from tests.unit.agent.stage import Link, Stage, calls, echo, reply, small_tool

Play = Callable[..., Stage]

WAIT = 5.0


def meeting(name: str, together: threading.Barrier) -> Tool:
    """A tool that only comes to its end when as many others are at work as the barrier wants."""

    def meet() -> str:
        together.wait(WAIT)
        return f"{name} met"

    return replace(small_tool(name, meet), is_parallel=True)


def answers(result: object) -> list[str]:
    return [
        message["content"]
        for message in result.messages  # type: ignore[attr-defined]
        if message["role"] == "tool"
    ]


def test_calls_that_may_run_beside_each_other_do(stage: Play) -> None:
    together = threading.Barrier(3)
    tools = [meeting(name, together) for name in ("a", "b", "c")]
    turn = stage(
        reply(None, *(calls(name, id=name) for name in "abc")), reply("Done."), tools=tools
    )
    result = turn.play()
    assert answers(result) == ["a met", "b met", "c met"]
    started = [event.call_id for event in turn.events if isinstance(event, ToolStarted)]
    finished = {event.call_id for event in turn.events if isinstance(event, ToolFinished)}
    assert (started, finished) == (["a", "b", "c"], {"a", "b", "c"})


def test_a_call_that_may_not_waits_for_those_before_it_and_those_after_it_wait(
    stage: Play,
) -> None:
    together = threading.Barrier(2)
    running: list[str] = []

    def alone() -> str:
        running.append("alone")
        return "alone"

    tools = [meeting("pair", together), small_tool("alone", alone)]
    wanted = [
        calls(name, id=f"{name}{number}")
        for number, name in enumerate(("pair", "pair", "alone", "pair", "pair"))
    ]
    turn = stage(reply(None, *wanted), reply("Done."), tools=tools)
    result = turn.play()
    assert answers(result) == ["pair met", "pair met", "alone", "pair met", "pair met"]
    order = [
        (type(event).__name__[4:], event.call_id)
        for event in turn.events
        if isinstance(event, ToolStarted | ToolFinished)
    ]
    middle = order.index(("Started", "alone2"))
    assert {call for _, call in order[:middle]} == {"pair0", "pair1"}
    assert {call for _, call in order[middle + 2 :]} == {"pair3", "pair4"}


def test_there_are_never_too_many_at_once(stage: Play) -> None:
    lock, now, most = threading.Lock(), 0, 0
    full = threading.Barrier(MOST_AT_ONCE)

    def count() -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        full.wait(WAIT)
        with lock:
            now -= 1
        return ""

    tool = replace(small_tool("count", count), is_parallel=True)
    wanted = [calls("count", id=f"c{number}") for number in range(2 * MOST_AT_ONCE)]
    result = stage(reply(None, *wanted), reply("Done."), tools=[tool]).play()
    assert (result.outcome, most) == (Outcome.COMPLETED, MOST_AT_ONCE)


def test_that_they_were_begun_is_kept_once_before_any_of_them_runs(stage: Play) -> None:
    link = Link()
    tool = replace(echo, is_parallel=True)
    turn = stage(
        reply(None, calls("echo", id="a"), calls("echo", id="b")),
        reply("Done."),
        tools=[tool],
        link=link,
    )
    turn.play()
    assert link.barriers == 1
    first_run = turn.log.index(("ran", "echo"))
    assert [event for kind, event in turn.log[:first_run] if kind == "event"][-2:] == [
        ToolStarted("a", "echo", {}),
        ToolStarted("b", "echo", {}),
    ]


async def test_in_a_fiber_they_run_beside_each_other_too() -> None:
    together, threads = threading.Barrier(2), Threads("test", 4)

    def work(name: str) -> str:
        together.wait(WAIT)
        return name

    def both() -> list[str]:
        return blocking_all([lambda: work("a"), lambda: work("b")])

    try:
        assert await run_in_fiber(both, threads.run, lambda: None) == ["a", "b"]
    finally:
        threads.close()


async def test_an_error_of_one_of_them_is_raised_when_all_are_done() -> None:
    threads, done = Threads("test", 4), threading.Event()

    def fail() -> None:
        raise LookupError("no")

    def both() -> None:
        blocking_all([fail, done.set])

    try:
        with pytest.raises(LookupError):
            await run_in_fiber(both, threads.run, lambda: None)
        assert done.is_set()
    finally:
        threads.close()
