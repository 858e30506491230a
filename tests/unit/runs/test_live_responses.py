"""A response at work: every follower sees all of it, and the store gets it in batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hermes.runs.live_responses import BATCH_BYTES, Fate, LiveResponse, LiveResponses
from hermes.wire.sse import KEEPALIVE


class Logs:
    """An event log in memory that counts how often it was written to."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def append(self, _response_id: str, frames: bytes) -> None:
        self.parts.append(frames)

    def read(self, _response_id: str) -> bytes:
        return b"".join(self.parts)


class Broken(Logs):
    def append(self, _response_id: str, frames: bytes) -> None:
        raise OSError("disk full")


def live_response(logs: Logs, stopped: list[str] | None = None) -> LiveResponse:
    async def stop(reason: str) -> None:
        if stopped is not None:
            stopped.append(reason)

    live = LiveResponse("resp_1", logs=lambda: logs, stop=stop, snapshot=dict)
    live.begin_storing()
    return live


async def everything(follower: AsyncIterator[bytes]) -> bytes:
    return b"".join([frames async for frames in follower])


async def test_a_follower_and_the_store_have_it_all_between_them() -> None:
    logs = Logs()
    live = live_response(logs)
    live.add(b"one ")
    follower = live.follow()
    before = logs.read("resp_1")
    live.add(b"two ")
    live.add(b"three")
    live.end()

    assert before + await everything(aiter(follower)) == b"one two three"
    assert logs.read("resp_1") == b"one two three"


async def test_a_follower_of_a_response_that_is_not_stored_yet_gets_what_waits() -> None:
    logs = Logs()
    live = LiveResponse(
        "resp_1", logs=lambda: logs, stop=lambda _reason: asyncio.sleep(0), snapshot=dict
    )
    live.add(b"one")
    follower = live.follow()
    live.end()

    assert logs.parts == []
    assert await everything(aiter(follower)) == b"one"


async def test_many_small_pieces_are_written_together() -> None:
    logs = Logs()
    live = live_response(logs)
    for _ in range(100):
        live.add(b"x")
    live.end()

    assert logs.parts == [b"x" * 100]


async def test_a_large_piece_does_not_wait() -> None:
    logs = Logs()
    live = live_response(logs)
    live.add(b"x" * BATCH_BYTES)

    assert len(logs.parts) == 1
    live.end()


async def test_keepalives_are_passed_on_and_not_stored() -> None:
    logs = Logs()
    live = live_response(logs)
    follower = live.follow()
    live.add(KEEPALIVE)
    live.end()

    assert await everything(aiter(follower)) == KEEPALIVE
    assert logs.parts == []


async def test_who_follows_too_late_is_told_at_once() -> None:
    live = live_response(Logs())
    live.end()
    assert await everything(aiter(live.follow())) == b""


async def test_who_left_gets_nothing_more() -> None:
    live = live_response(Logs())
    follower = live.follow()
    live.leave(follower)
    live.leave(follower)
    live.add(b"x")
    live.end()
    follower.put(None)

    assert await everything(aiter(follower)) == b""


async def test_a_store_that_fails_does_not_stop_the_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live = live_response(Broken())
    follower = live.follow()
    live.add(b"one")
    live.end()

    assert await everything(aiter(follower)) == b"one"
    assert "events not stored" in caplog.text


async def test_a_response_in_the_background_is_known_until_it_is_over() -> None:
    responses, logs, go_on = LiveResponses(), Logs(), asyncio.Event()
    live = live_response(logs)

    async def work() -> None:
        await go_on.wait()
        live.add(b"done")

    responses.run(live, work())
    assert responses.get("resp_1") is live
    go_on.set()
    await live.ended()

    assert responses.get("resp_1") is None
    assert logs.read("resp_1") == b"done"


async def test_stopping_decides_the_fate_and_asks_the_turn() -> None:
    reasons: list[str] = []
    live = live_response(Logs(), reasons)
    await live.stop(Fate.CANCELLED, "enough")

    assert (live.fate, reasons) == (Fate.CANCELLED, ["enough"])


async def test_a_shutdown_waits_only_so_long() -> None:
    responses = LiveResponses()
    live = live_response(Logs())
    responses.run(live, asyncio.Event().wait())  # type: ignore[arg-type]
    await responses.finish(within=0.01)

    assert responses.get("resp_1") is None
    await responses.finish()
