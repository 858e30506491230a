"""What a run says becomes the events of a chat stream."""

from __future__ import annotations

import asyncio
import json

import pytest

from hermes.backends.bridge import answers, streaming
from hermes.backends.bridge.chat import HEARTBEAT, Completion
from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.running import Listener
from hermes.backends.bridge.streaming import relay
from hermes.backends.saying import Ending, EndKind, Exit, MessageEnded, Said, Thought
from hermes.core.errors import Unavailable

COMPLETION = Completion(id="chatcmpl-1", model="haiku", created=5)


def outcome(unsaid: str = "") -> Outcome:
    return Outcome(
        errand=Errand(model="haiku", prompt="hi", max_budget_usd=1, timeout_seconds=1),
        ending=Ending(kind=EndKind.ANSWERED, text="all", unsaid=unsaid),
        exit=Exit(code=0),
        sync=None,
    )


class Client:
    """Reads as slowly as the loop lets it."""

    def __init__(self) -> None:
        self.data = b""
        self.arrived = asyncio.Event()

    async def write(self, data: bytes) -> None:
        self.data += data
        self.arrived.set()
        await asyncio.sleep(0)

    @property
    def text(self) -> str:
        events = [line for line in self.data.decode().split("\n\n") if line.startswith("data: {")]
        chunks = [json.loads(event.removeprefix("data: ")) for event in events]
        deltas = [choice["delta"] for chunk in chunks for choice in chunk.get("choices", ())]
        return "".join(delta.get("content", "") for delta in deltas)


async def test_every_piece_is_written_once_and_messages_stand_apart() -> None:
    async def run(listener: Listener) -> Outcome:
        listener.event(Thought("hm"))
        for text in ("One, ", "two."):
            listener.event(Said(text))
            await asyncio.sleep(0)
        listener.event(MessageEnded("One, two."))
        listener.event(Said("Three."))
        listener.event(MessageEnded("Three."))
        return outcome(unsaid=" Four.")

    client = Client()
    await relay(run, COMPLETION, client.write, wants_usage=False)
    assert client.text == "One, two.\n\nThree. Four."
    assert client.data.count(b'"role"') == 1
    assert client.data.endswith(b"data: [DONE]\n\n")


async def test_a_run_that_says_nothing_still_opens_and_ends_the_stream() -> None:
    async def run(listener: Listener) -> Outcome:
        return outcome(unsaid="Here.")

    client = Client()
    await relay(run, COMPLETION, client.write, wants_usage=True)
    assert client.text == "Here."
    assert client.data.count(b'"role"') == 1
    assert b'"usage"' in client.data


async def test_silence_is_filled_with_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    client = Client()

    async def run(listener: Listener) -> Outcome:
        await client.arrived.wait()
        return outcome(unsaid="At last.")

    async with asyncio.timeout(10):
        await relay(run, COMPLETION, client.write, wants_usage=False)
    assert HEARTBEAT in client.data
    assert client.text == "At last."


async def test_a_failure_before_the_first_word_is_raised() -> None:
    async def run(listener: Listener) -> Outcome:
        raise answers.failed("nothing works")

    client = Client()
    with pytest.raises(Unavailable):
        await relay(run, COMPLETION, client.write, wants_usage=False)
    assert client.data == b""


async def test_a_failure_later_ends_the_stream_without_done() -> None:
    client = Client()

    async def run(listener: Listener) -> Outcome:
        listener.event(Said("One, "))
        await client.arrived.wait()
        raise answers.failed("it broke")

    await relay(run, COMPLETION, client.write, wants_usage=False)
    last = json.loads(client.data.decode().strip().split("\n\n")[-1].removeprefix("data: "))
    assert last == {"error": "execution failed", "detail": "it broke"}


async def test_the_run_is_over_before_a_cancelled_stream_is() -> None:
    began, is_over = asyncio.Event(), asyncio.Event()

    async def run(listener: Listener) -> Outcome:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            is_over.set()
        raise AssertionError

    relaying = asyncio.ensure_future(relay(run, COMPLETION, Client().write, wants_usage=False))
    await began.wait()
    relaying.cancel()
    await asyncio.gather(relaying, return_exceptions=True)
    assert relaying.cancelled()
    assert is_over.is_set()


async def test_a_client_that_cannot_be_written_to_ends_the_run() -> None:
    async def write(data: bytes) -> None:
        raise OSError("gone")

    cancelled = asyncio.Event()

    async def run(listener: Listener) -> Outcome:
        listener.event(Said("One"))
        try:
            return await asyncio.Future[Outcome]()
        finally:
            cancelled.set()

    with pytest.raises(OSError, match="gone"):
        await relay(run, COMPLETION, write, wants_usage=False)
    assert cancelled.is_set()
