"""One computation per key and fingerprint, for a while."""

from __future__ import annotations

import asyncio

import pytest

from hermes.server.idempotency import IdempotencyCache


class Work:
    """Counts how often it was done; waits until it may finish."""

    def __init__(self, *, waits: bool = False) -> None:
        self.count = 0
        self.may_finish = asyncio.Event()
        if not waits:
            self.may_finish.set()

    async def __call__(self) -> int:
        self.count += 1
        await self.may_finish.wait()
        return self.count


async def test_the_same_question_is_computed_once() -> None:
    cache, work = IdempotencyCache(), Work(waits=True)
    asking = [asyncio.create_task(cache.get_or_set("k", "f", work)) for _ in range(10)]
    await asyncio.sleep(0)
    work.may_finish.set()
    answers = await asyncio.gather(*asking)

    assert [*answers, await cache.get_or_set("k", "f", work)] == [1] * 11


async def test_a_key_is_taken_by_what_is_computed_under_it() -> None:
    cache, work = IdempotencyCache(), Work(waits=True)
    asking = asyncio.create_task(cache.get_or_set("k", "f", work))
    await asyncio.sleep(0)

    assert cache.is_taken("k", "g")
    assert not cache.is_taken("k", "f")
    assert not cache.is_taken("l", "g")
    work.may_finish.set()
    await asking


async def test_another_key_or_fingerprint_is_another_question() -> None:
    cache, work = IdempotencyCache(), Work()
    names = [("k", "f"), ("k", "g"), ("l", "f")]

    assert [await cache.get_or_set(*name, work) for name in names] == [1, 2, 3]


async def test_a_waiter_that_leaves_does_not_take_the_answer_with_it() -> None:
    cache, work = IdempotencyCache(), Work(waits=True)
    leaving = asyncio.create_task(cache.get_or_set("k", "f", work))
    staying = asyncio.create_task(cache.get_or_set("k", "f", work))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    work.may_finish.set()

    assert leaving.cancelled()
    assert await staying == 1


async def test_a_failure_is_forgotten() -> None:
    cache = IdempotencyCache()

    async def fails() -> int:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        await cache.get_or_set("k", "f", fails)

    assert await cache.get_or_set("k", "f", Work()) == 1


async def test_an_old_answer_is_forgotten() -> None:
    cache, work = IdempotencyCache(keep_seconds=0.0), Work()

    assert [await cache.get_or_set("k", "f", work) for _ in range(2)] == [1, 2]


async def test_the_oldest_finished_answers_make_room() -> None:
    cache, work = IdempotencyCache(max_entries=2), Work()
    for key in ("a", "b", "c"):
        await cache.get_or_set(key, "f", work)

    assert await cache.get_or_set("c", "f", work) == 3
    assert await cache.get_or_set("a", "f", work) == 4


async def test_running_work_is_never_forgotten() -> None:
    cache, slow, quick = IdempotencyCache(max_entries=1), Work(waits=True), Work()
    first = asyncio.create_task(cache.get_or_set("slow", "f", slow))
    await asyncio.sleep(0)
    await cache.get_or_set("quick", "f", quick)
    second = asyncio.create_task(cache.get_or_set("slow", "f", slow))
    await asyncio.sleep(0)
    slow.may_finish.set()

    assert [await first, await second] == [1, 1]
