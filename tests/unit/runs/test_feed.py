"""A feed carries everything from any thread to one reader, and wakes it once per burst."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hermes.core.events import Idle, TextDelta
from hermes.runs.feed import Feed, Item

WAIT = 5.0


def text(word: str) -> TextDelta:
    return TextDelta(word)


async def take_soon(feed: Feed) -> list[Item]:
    return await asyncio.wait_for(feed.take(), WAIT)


async def waiting(feed: Feed) -> asyncio.Task[list[Item]]:
    """A reader that waits for the next item."""
    task = asyncio.create_task(feed.take())
    await asyncio.sleep(0)
    return task


def in_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(WAIT)
    assert not thread.is_alive()


class WakeUps:
    """Counts how often other threads wake the running loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        loop = asyncio.get_running_loop()
        original = loop.call_soon_threadsafe

        def counted(*args: Any, **kwargs: Any) -> asyncio.Handle:
            self.count += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)


async def test_what_was_put_before_is_taken_at_once_and_in_order() -> None:
    feed = Feed()
    for item in (text("a"), text("b"), None):
        feed.put(item)
    assert await take_soon(feed) == [text("a"), text("b"), None]


async def test_nothing_is_taken_together_with_what_comes_after_the_end() -> None:
    """A late heartbeat or tool must not hide the end from a reader that looks at the last item."""
    feed = Feed()
    for item in (text("a"), None, Idle()):
        feed.put(item)
    assert await take_soon(feed) == [text("a"), None]


async def test_a_put_from_the_loop_wakes_the_waiting_reader() -> None:
    feed = Feed()
    reader = await waiting(feed)
    feed.put(text("a"))
    feed.put(text("b"))
    assert await asyncio.wait_for(reader, WAIT) == [text("a"), text("b")]


async def test_a_put_from_a_thread_wakes_the_waiting_reader() -> None:
    feed = Feed()
    reader = await waiting(feed)
    await asyncio.to_thread(feed.put, text("a"))
    assert await asyncio.wait_for(reader, WAIT) == [text("a")]


async def test_the_reader_waits_again_after_each_take() -> None:
    feed = Feed()
    for word in "abc":
        reader = await waiting(feed)
        await asyncio.to_thread(feed.put, text(word))
        assert await asyncio.wait_for(reader, WAIT) == [text(word)]


async def test_a_late_bell_without_an_item_does_not_end_the_waiting() -> None:
    """A thread may ring for an item that the reader has already taken with the one before it."""
    feed = Feed()
    reader = await waiting(feed)
    in_thread(feed._ring)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not reader.done()
    feed.put(text("a"))
    assert await asyncio.wait_for(reader, WAIT) == [text("a")]


async def test_a_burst_wakes_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Feed()
    wake_ups = WakeUps(monkeypatch)
    reader = await waiting(feed)

    def burst() -> None:
        for number in range(1000):
            feed.put(text(str(number)))

    in_thread(burst)  # the loop stands still meanwhile: all of it is one burst
    assert len(await asyncio.wait_for(reader, WAIT)) == 1000
    assert wake_ups.count == 1


async def test_nobody_is_woken_while_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Feed()
    wake_ups = WakeUps(monkeypatch)
    in_thread(lambda: feed.put(text("a")))
    assert wake_ups.count == 0
    assert await take_soon(feed) == [text("a")]


async def test_a_put_from_the_loop_itself_needs_no_wake_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = Feed()
    wake_ups = WakeUps(monkeypatch)
    reader = await waiting(feed)
    feed.put(Idle())
    assert await asyncio.wait_for(reader, WAIT) == [Idle()]
    assert wake_ups.count == 0


async def test_many_threads_lose_nothing_and_each_keeps_its_order() -> None:
    feed = Feed()
    producers, each = 8, 500
    start = threading.Barrier(producers + 1)

    def produce(name: int) -> None:
        start.wait(WAIT)
        for number in range(each):
            feed.put(text(f"{name} {number}"))

    threads = [threading.Thread(target=produce, args=(name,)) for name in range(producers)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(start.wait, WAIT)
    taken: list[str] = []
    while len(taken) < producers * each:
        batch = await take_soon(feed)
        assert batch, "take returned without anything"
        taken.extend(item.text for item in batch if isinstance(item, TextDelta))
    for name in range(producers):
        mine = [entry for entry in taken if entry.startswith(f"{name} ")]
        assert mine == [f"{name} {number}" for number in range(each)]
    for thread in threads:
        thread.join(WAIT)
    assert feed.empty()


async def test_a_reader_that_gave_up_loses_nothing_and_is_not_woken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = Feed()
    reader = await waiting(feed)
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    wake_ups = WakeUps(monkeypatch)
    in_thread(lambda: feed.put(text("a")))
    assert wake_ups.count == 0
    assert await take_soon(feed) == [text("a")]


def test_a_put_after_the_readers_loop_was_closed_is_kept_and_harms_nobody() -> None:
    feed = Feed()
    loop = asyncio.new_event_loop()
    reader = loop.create_task(feed.take())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    feed.put(text("a"))
    assert feed.get_nowait() == text("a")
    # The abandoned task would complain when it is collected.
    reader._log_destroy_pending = False  # type: ignore[attr-defined]


def test_a_feed_can_be_made_and_looked_into_without_a_loop() -> None:
    feed = Feed()
    assert feed.empty()
    feed.put(text("a"))
    feed.put(None)
    assert not feed.empty()
    assert feed.get_nowait() == text("a")
    assert feed.get_nowait() is None
    with pytest.raises(IndexError):
        feed.get_nowait()
