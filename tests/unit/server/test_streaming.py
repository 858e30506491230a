"""Writing a turn: what is written when, and what becomes of a turn whose client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hermes.core.events import Event, Idle, Notice, TextDelta, ToolFinished
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.feed import Feed
from hermes.server.streaming import CLIENT_LEFT, Encoder, TurnView, abandon, pump, result_of


class Spelled:
    """An encoder that shows every event by its kind, text by itself, and notices not at all."""

    def encode(self, event: Event) -> bytes:
        if isinstance(event, TextDelta):
            return event.text.encode()
        return b"" if isinstance(event, Notice) else f"<{type(event).__name__}>".encode()


class Counting:
    """An encoder that leaves a trace of every event."""

    def encode(self, _event: Event) -> bytes:
        return b"+"


class Writes(list[bytes]):
    """Everything written, write by write."""

    async def write(self, data: bytes) -> None:
        self.append(data)


def view(task: asyncio.Future[Any], interrupt: Callable[[str], None] = lambda _: None) -> TurnView:
    return TurnView(
        source=Feed(), task=task, read_result=lambda result: result, interrupt=interrupt
    )


async def pumped(*items: Event | None, encoder: Encoder | None = None) -> tuple[list[bytes], bytes]:
    """What was written of items that are there at once, and what was left for the last write."""
    feed, writes = Feed(), Writes()
    for item in items:
        feed.put(item)
    async with asyncio.timeout(2):
        rest = await pump(feed, encoder or Spelled(), writes.write, 60)
    return list(writes), rest


async def test_the_last_burst_is_left_for_the_write_that_ends_the_stream() -> None:
    assert await pumped(TextDelta("a"), TextDelta("b"), TextDelta("c"), None) == ([], b"abc")


async def test_a_burst_is_one_write() -> None:
    feed, written = Feed(), asyncio.Event()
    writes: list[bytes] = []

    async def write(data: bytes) -> None:
        writes.append(data)
        written.set()

    feed.put(TextDelta("a"))
    feed.put(TextDelta("b"))
    pumping = asyncio.create_task(pump(feed, Spelled(), write, 60))
    async with asyncio.timeout(5):
        await written.wait()
        feed.put(None)
        await pumping

    assert writes == [b"ab"]


async def test_what_the_wire_does_not_show_causes_no_write() -> None:
    assert await pumped(Notice("code", "words"), None) == ([], b"")


async def test_unlawful_events_are_not_written() -> None:
    orphan = ToolFinished("call", "tool", {}, "output")

    assert await pumped(orphan, TextDelta("a"), None) == ([], b"a")


async def test_text_without_text_is_not_written() -> None:
    assert await pumped(TextDelta(""), None, encoder=Counting()) == ([], b"")


@pytest.mark.parametrize("late", [Idle(), TextDelta("late"), Notice("code", "words")])
async def test_the_end_is_the_end_even_when_something_came_after_it(late: Event) -> None:
    """A heartbeat, or a tool that nobody waits for, may put an event behind the end."""
    _, rest = await pumped(TextDelta("a"), None, late)

    assert rest.startswith(b"a")


async def test_events_of_other_threads_are_written_as_they_come() -> None:
    feed, writes = Feed(), Writes()
    pumping = asyncio.create_task(pump(feed, Spelled(), writes.write, 60))
    for text in ("a", "b"):
        await asyncio.to_thread(feed.put, TextDelta(text))
    await asyncio.to_thread(feed.put, None)
    async with asyncio.timeout(5):
        rest = await pumping

    assert b"".join([*writes, rest]) == b"ab"


async def test_silence_is_filled_and_ends_with_the_stream() -> None:
    feed, beaten = Feed(), asyncio.Event()

    async def write(data: bytes) -> None:
        assert data == b"<Idle>"
        beaten.set()

    pumping = asyncio.create_task(pump(feed, Spelled(), write, 0.01))
    async with asyncio.timeout(5):
        await beaten.wait()
    feed.put(None)
    async with asyncio.timeout(5):
        await pumping
    await asyncio.sleep(0.03)

    assert feed.empty()


async def test_a_write_that_fails_ends_the_pump_and_its_heartbeat() -> None:
    feed = Feed()
    feed.put(TextDelta("a"))

    async def write(_data: bytes) -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await pump(feed, Spelled(), write, 0.01)
    await asyncio.sleep(0.03)

    assert feed.empty()


async def test_an_agent_that_raises_is_a_failed_turn() -> None:
    task: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    task.set_exception(RuntimeError("out of ideas"))

    assert await result_of(view(task)) == TurnResult(outcome=Outcome.FAILED, error="out of ideas")


async def test_an_error_without_words_is_named_by_its_kind() -> None:
    task: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    task.set_exception(KeyError())

    assert (await result_of(view(task))).error == "KeyError"


async def test_an_abandoned_turn_is_interrupted_and_its_task_ended() -> None:
    reasons: list[str] = []
    task = asyncio.create_task(asyncio.Event().wait())
    await abandon(view(task, reasons.append))

    assert reasons == [CLIENT_LEFT]
    assert task.cancelled()


async def test_a_finished_turn_can_be_abandoned_too() -> None:
    task: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    task.set_result(TurnResult(text="done"))
    await abandon(view(task))

    assert not task.cancelled()
