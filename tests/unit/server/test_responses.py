"""/v1/responses, without an agent."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hermes.core.events import TextDelta
from hermes.core.turn import Outcome, TurnCall, TurnResult
from hermes.server.response_request import TRUNCATED_HISTORY
from hermes.store.responses import ResponseStore
from hermes.testing.sse import parse_events
from tests.unit.server.conftest import Serve
from tests.unit.server.fakes import FakeTurns

RESPONSES = "/v1/responses"


async def create(client: Any, **body: Any) -> Any:
    response = await client.post(RESPONSES, json=body)
    assert response.status == 200, await response.text()
    return await response.json()


async def test_a_chain_carries_history_instructions_and_session(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns)
    first = await create(client, input="one", instructions="Be brief.")
    await create(client, input="two", previous_response_id=first["id"])
    started, continued = turns.calls

    assert continued.session_id == started.session_id
    assert continued.system_prompt == "Be brief."
    assert list(continued.history) == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "Hello there"},
    ]


async def test_instructions_may_be_changed_along_the_chain(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns)
    first = await create(client, input="one", instructions="Be brief.")
    second = await create(
        client, input="two", previous_response_id=first["id"], instructions="Be long."
    )
    await create(client, input="three", previous_response_id=second["id"])

    assert [call.system_prompt for call in turns.calls] == ["Be brief.", "Be long.", "Be long."]


async def test_truncation_shortens_what_the_agent_reads_but_not_what_is_kept(serve: Serve) -> None:
    turns, store = FakeTurns(), ResponseStore()
    client = await serve(turns, responses=lambda: store)
    items = [{"role": "user", "content": f"n{at}"} for at in range(150)]
    answer = await create(client, input=items, truncation="auto")
    record = store.get(answer["id"])

    assert len(turns.calls[0].history) == TRUNCATED_HISTORY
    assert turns.calls[0].history[-1] == items[-2]
    assert record is not None
    assert len(record["conversation_history"]) == 151


async def test_truncation_never_leaves_a_result_without_its_call(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns)
    step = [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ]
    said = [{"role": "user", "content": f"n{at}"} for at in range(TRUNCATED_HISTORY)]
    await create(client, input=[*step, *said], truncation="auto")

    assert turns.calls[0].history[0]["role"] == "user"
    assert len(turns.calls[0].history) == TRUNCATED_HISTORY - 1


@pytest.mark.parametrize("stream", [False, True])
async def test_what_is_not_to_be_stored_is_not_and_its_turn_neither(
    serve: Serve, stream: bool
) -> None:
    turns, store = FakeTurns(), ResponseStore()
    client = await serve(turns, responses=lambda: store)
    body = {"input": "x", "store": False, "conversation": "talk", "stream": stream}
    await (await client.post(RESPONSES, json=body)).text()

    assert len(store) == 0
    assert store.get_conversation("talk") is None
    assert turns.calls[0].parameters.persist is False


async def test_a_failed_turn_is_not_stored_under_a_conversation(serve: Serve) -> None:
    store = ResponseStore()
    failed = FakeTurns(TurnResult(outcome=Outcome.FAILED, error="no luck"))
    client = await serve(failed, responses=lambda: store)
    response = await client.post(RESPONSES, json={"input": "x", "conversation": "talk"})

    assert response.status == 502
    assert store.get_conversation("talk") is None


async def test_a_conversation_whose_last_response_was_dropped_starts_afresh(serve: Serve) -> None:
    turns, store = FakeTurns(), ResponseStore(max_size=1)
    client = await serve(turns, responses=lambda: store)
    await create(client, input="one", conversation="talk")
    await create(client, input="two")
    third = await create(client, input="three", conversation="talk")

    assert third["previous_response_id"] is None
    assert list(turns.calls[2].history) == []


async def test_a_response_is_stored_while_its_stream_runs(serve: Serve) -> None:
    store, may_end = ResponseStore(), asyncio.Event()

    async def waits(_call: TurnCall) -> TurnResult:
        await may_end.wait()
        return TurnResult(text="Half an answer")

    turns = FakeTurns(events=[TextDelta("Half")], behaviour=waits)
    client = await serve(turns, responses=lambda: store)
    async with asyncio.timeout(5):
        response = await client.post(RESPONSES, json={"input": "x", "stream": True})
        created = json.loads((await response.content.readuntil(b"\n\n")).split(b"data: ")[1])
        while b"delta" not in await response.content.readuntil(b"\n\n"):
            pass
        response_id = created["response"]["id"]
        early = await (await client.get(f"{RESPONSES}/{response_id}")).json()
        may_end.set()
        events = parse_events(await response.text())
    late = await (await client.get(f"{RESPONSES}/{response_id}")).json()

    assert early["status"] == "in_progress"
    assert late["status"] == "completed"
    assert json.loads(events[-2].data)["response"] == late


async def test_unknown_responses_are_named(serve: Serve) -> None:
    client = await serve()
    answers = [await client.get(f"{RESPONSES}/x"), await client.delete(f"{RESPONSES}/x")]
    chained = await client.post(RESPONSES, json={"input": "x", "previous_response_id": "x"})

    assert [(await answer.json())["error"]["code"] for answer in answers] == [
        "response_not_found"
    ] * 2
    assert [answer.status for answer in [*answers, chained]] == [404] * 3
    assert (await chained.json())["error"]["code"] == "previous_response_not_found"
