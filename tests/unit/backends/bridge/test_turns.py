"""Who may run now, who waits, who is sent away; and what the lock shows of it."""

from __future__ import annotations

import asyncio

import pytest

from hermes.backends.bridge.turns import Ticket, TurnedAway, Turns


class Place:
    def __init__(self, capacity: int, depth: int) -> None:
        self.turns = Turns()
        self.lock = asyncio.Lock()
        self.capacity = capacity
        self.depth = depth

    async def take(self) -> Ticket:
        return await self.turns.take(self.lock, capacity=self.capacity, depth=self.depth)


async def test_the_lock_is_held_while_there_is_no_room() -> None:
    place = Place(capacity=2, depth=0)
    first = await place.take()
    assert not place.lock.locked()
    second = await place.take()
    assert place.lock.locked()
    with pytest.raises(TurnedAway):
        await place.take()
    first.give_back()
    assert not place.lock.locked()
    second.give_back()
    assert place.turns.active == 0


async def test_a_lock_held_by_somebody_else_turns_everybody_away() -> None:
    place = Place(capacity=5, depth=5)
    async with place.lock:
        with pytest.raises(TurnedAway, match="kept busy"):
            await place.take()
    (await place.take()).give_back()
    assert not place.lock.locked()


async def test_who_waits_is_served_in_order() -> None:
    place = Place(capacity=1, depth=3)
    first, second, third = [await place.take() for _ in range(3)]
    assert [first.is_waiting, second.is_waiting, third.is_waiting] == [False, True, True]
    first.give_back()
    assert [second.is_waiting, third.is_waiting] == [False, True]
    assert place.lock.locked()
    await second.turn(1)
    second.give_back()
    third.give_back()
    assert not place.lock.locked()


async def test_who_stops_waiting_leaves_the_queue() -> None:
    place = Place(capacity=1, depth=2)
    first, second, third = [await place.take() for _ in range(3)]
    with pytest.raises(TimeoutError):
        await second.turn(0.01)
    second.give_back()
    assert place.turns.queued == 1
    first.give_back()
    first.give_back()
    assert not third.is_waiting
    assert place.turns.active == 1
    third.give_back()
    assert place.turns.active == 0


async def test_a_waiter_that_is_cancelled_as_its_turn_comes_passes_it_on() -> None:
    place = Place(capacity=1, depth=2)
    first, second, third = [await place.take() for _ in range(3)]
    waiting = asyncio.ensure_future(second.turn(10))
    await asyncio.sleep(0)
    first.give_back()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    second.give_back()
    assert not third.is_waiting
    third.give_back()
    assert not place.lock.locked()


async def test_room_that_is_added_meanwhile_is_used() -> None:
    place = Place(capacity=1, depth=1)
    first = await place.take()
    place.capacity = 2
    second = await place.take()
    assert not second.is_waiting
    first.give_back()
    second.give_back()
    assert not place.lock.locked()


async def test_an_embedder_that_waits_for_the_lock_gets_it_in_between() -> None:
    place = Place(capacity=1, depth=0)
    had: list[str] = []

    async def embed() -> None:
        async with place.lock:
            had.append("embedder")

    first = await place.take()
    embedder = asyncio.ensure_future(embed())
    await asyncio.sleep(0)
    first.give_back()
    async with asyncio.timeout(10):
        second = await place.take()
    had.append("second")
    assert had == ["embedder", "second"]
    assert place.lock.locked()
    second.give_back()
    assert not place.lock.locked()
    await embedder
