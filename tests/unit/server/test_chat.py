"""POST /v1/chat/completions, without an agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hermes.core.events import TextDelta, ToolFinished, ToolStarted
from hermes.core.ids import derive_chat_session_id
from hermes.core.turn import Outcome, TurnCall, TurnParameters, TurnResult, Usage
from hermes.store.sessions import SessionDB
from hermes.testing.sse import parse_events
from tests.unit.server.conftest import Serve
from tests.unit.server.fakes import FakeTurns

CHAT = "/v1/chat/completions"
KEY = "k-12345678"
HELLO: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}


async def test_a_request_becomes_one_call_to_the_agent(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
    ]
    await client.post(CHAT, json={"messages": messages})

    assert turns.calls == [
        TurnCall(
            user_message="three",
            history=messages[1:3],
            system_prompt="Be brief.",
            session_id=derive_chat_session_id("Be brief.", "one"),
            parameters=TurnParameters(persist=False, owner="local", can_ask=True),
        )
    ]


async def test_the_answer_has_the_agents_words_and_numbers(serve: Serve) -> None:
    usage = Usage(input_tokens=3, output_tokens=4, total_tokens=7)
    client = await serve(FakeTurns(TurnResult(text="Hi", usage=usage)))
    answer = await (await client.post(CHAT, json=HELLO)).json()

    assert answer["model"] == "test-model"
    assert answer["choices"][0]["message"]["content"] == "Hi"
    assert answer["usage"]["total_tokens"] == 7
    assert "hermes" not in answer


async def test_a_named_session_brings_its_own_history(serve: Serve, tmp_path: Path) -> None:
    turns, store = FakeTurns(), SessionDB(tmp_path / "mine.db")
    store.create_session("mine", "test")
    store.append_message("mine", "user", "earlier")
    client = await serve(turns, key=KEY, sessions=lambda: store)
    headers = {"X-Hermes-Session-Id": "mine", "X-Hermes-Session-Key": "ann"}
    body = {"messages": [{"role": "user", "content": "ignored"}, *HELLO["messages"]]}
    response = await client.post(CHAT, json=body, headers=headers)
    [call] = turns.calls

    assert (call.session_id, call.session_key) == ("mine", "ann")
    assert list(call.history) == [{"role": "user", "content": "earlier"}]
    assert call.parameters.persist is True
    assert response.headers["X-Hermes-Session-Id"] == "mine"
    assert response.headers["X-Hermes-Session-Key"] == "ann"


async def test_a_store_that_cannot_be_read_costs_the_history_not_the_answer(serve: Serve) -> None:
    def broken() -> Any:
        raise RuntimeError("disk on fire")

    for sessions in (broken, lambda: None):
        turns = FakeTurns()
        client = await serve(turns, key=KEY, responses=lambda: None, sessions=Once(sessions))
        response = await client.post(CHAT, json=HELLO, headers={"X-Hermes-Session-Id": "mine"})
        assert response.status == 200
        assert list(turns.calls[0].history) == []


class Once:
    """Nothing when the fixture looks, `then` when the gateway does."""

    def __init__(self, then: Any) -> None:
        self._then = then
        self._looks = 0

    def __call__(self) -> Any:
        self._looks += 1
        return None if self._looks == 1 else self._then()


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (TurnResult(outcome=Outcome.FAILED, error="no luck"), 502),
        (TurnResult(outcome=Outcome.FAILED, text="Half", error="no luck"), 502),
        (TurnResult(outcome=Outcome.TRUNCATED, error="no luck"), 502),
        (TurnResult(outcome=Outcome.INTERRUPTED, error="no luck"), 502),
        (TurnResult(outcome=Outcome.TRUNCATED, text="Half", error="no luck"), 200),
        (TurnResult(outcome=Outcome.INTERRUPTED, text="Half", error="no luck"), 200),
    ],
)
async def test_an_answer_that_is_not_whole_is_never_shown_as_one(
    serve: Serve, result: TurnResult, status: int
) -> None:
    client = await serve(FakeTurns(result))
    response = await client.post(CHAT, json=HELLO)
    body = await response.json()

    assert (response.status, response.headers["X-Hermes-Completed"]) == (status, "false")
    if status == 200:
        assert body["choices"][0]["finish_reason"] == "length"
        assert body["hermes"]["error"] == "no luck"
    else:
        assert "no luck" in body["error"]["message"]
        assert body["error"]["hermes"].get("partial_text", "") == result.text


async def test_an_agent_that_raises_is_a_500_that_says_why(serve: Serve) -> None:
    async def raises(_call: TurnCall) -> TurnResult:
        raise RuntimeError("Provider failed")

    client = await serve(FakeTurns(behaviour=raises))
    response = await client.post(CHAT, json=HELLO)

    assert response.status == 500
    assert (await response.json())["error"]["code"] == "agent_error"
    assert "Provider failed" in await response.text()


async def test_an_agent_that_raises_ends_a_stream_with_the_error(serve: Serve) -> None:
    async def raises(_call: TurnCall) -> TurnResult:
        raise RuntimeError("Provider failed")

    client = await serve(FakeTurns(events=[TextDelta("Half")], behaviour=raises))
    response = await client.post(CHAT, json={**HELLO, "stream": True})
    *_, last, done = parse_events(await response.text())

    assert json.loads(last.data)["choices"][0]["finish_reason"] == "error"
    assert "Provider failed" in json.loads(last.data)["error"]["message"]
    assert done.data == "[DONE]"


async def test_events_are_streamed_in_their_order(serve: Serve) -> None:
    events = [
        TextDelta("Looking."),
        ToolStarted("call_1", "list_files", {}),
        ToolFinished("call_1", "list_files", {}, "nothing"),
        TextDelta("Nothing."),
    ]
    client = await serve(FakeTurns(TurnResult(text="Nothing."), events))
    response = await client.post(CHAT, json={**HELLO, "stream": True})
    chunks = [json.loads(event.data) for event in parse_events(await response.text())[:-1]]
    told = [chunk.get("status") or chunk["choices"][0]["delta"].get("content") for chunk in chunks]

    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.headers["X-Accel-Buffering"] == "no"
    assert told == ["", "Looking.", "running", "completed", "Nothing.", None]


async def test_a_turn_ends_when_its_client_leaves_streamed_or_not(serve: Serve) -> None:
    for stream in (True, False):
        began, ended = asyncio.Event(), asyncio.Event()

        async def waits(
            _call: TurnCall, began: asyncio.Event = began, ended: asyncio.Event = ended
        ) -> TurnResult:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return TurnResult()

        client = await serve(FakeTurns(behaviour=waits))
        asking = asyncio.create_task(_ask(client, {**HELLO, "stream": stream}))
        async with asyncio.timeout(2):
            await began.wait()
            asking.cancel()
            await ended.wait()
        await asyncio.gather(asking, return_exceptions=True)


async def _ask(client: Any, body: Any) -> str:
    async with client.post(CHAT, json=body) as response:
        return str(await response.text())


async def test_the_same_idempotency_key_is_one_turn_per_body_path_and_caller(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns, key=KEY)
    named = {"X-Hermes-Session-Id": "mine"}
    answers = [
        await client.post(CHAT, json=HELLO, headers={"Idempotency-Key": "k", **more})
        for more in ({}, {}, named, named)
    ]
    ids = [(await answer.json())["id"] for answer in answers]
    other = {"messages": [{"role": "user", "content": "Other"}]}
    refused = await client.post(CHAT, json=other, headers={"Idempotency-Key": "k"})

    assert ids[0] == ids[1]
    assert ids[2] == ids[3]
    assert ids[0] != ids[2]
    assert len(turns.calls) == 2
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [
        None,
        "true",
        None,
        "true",
    ]
    assert refused.status == 409
    assert (await refused.json())["error"]["code"] == "idempotency_key_conflict"
