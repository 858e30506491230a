"""One job at a time for one conversation of a CLI."""

from __future__ import annotations

import asyncio

from hermes.backends.hosting.session_locks import SessionLocks


async def test_whoever_comes_second_waits_and_says_so() -> None:
    locks, order = SessionLocks(), list[str]()
    first_is_in, may_leave = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with locks.held("a", lambda: order.append("first waits")):
            first_is_in.set()
            await may_leave.wait()
            order.append("first")

    async def second() -> None:
        async with locks.held("a", may_leave.set):
            order.append("second")

    task = asyncio.create_task(first())
    await first_is_in.wait()
    await second()
    await task

    assert order == ["first", "second"]


async def test_other_conversations_and_none_at_all_do_not_wait() -> None:
    locks, waited = SessionLocks(), list[str]()
    async with (
        locks.held("a", lambda: waited.append("a")),
        locks.held("b", lambda: waited.append("b")),
        locks.held(None, lambda: waited.append("none")),
        locks.held(None, lambda: waited.append("none")),
    ):
        assert waited == []


async def test_whoever_gives_up_waiting_does_not_keep_others_out() -> None:
    locks = SessionLocks()

    async def wait() -> None:
        async with locks.held("a", lambda: None):
            pass

    async with locks.held("a", lambda: None):
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
    async with asyncio.timeout(5), locks.held("a", lambda: None):
        pass
