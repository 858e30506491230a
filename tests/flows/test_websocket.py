"""GET /v1/responses as a WebSocket."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from hermes.testing.replies import Broken, HttpError, Text, ToolUse
from hermes.testing.scripted import EchoModel
from tests.flows.conftest import Flow, StartFlow, eventually

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ENDS = ("response.completed", "response.incomplete", "response.failed", "error")

Socket = aiohttp.ClientWebSocketResponse


def connect(served: Flow, **options: Any) -> Any:
    return served.http.ws_connect(f"{served.gateway.url}/v1/responses", **options)


async def turn(socket: Socket, **body: Any) -> list[dict[str, Any]]:
    """Send one request and receive everything up to its end."""
    await socket.send_json({"type": "response.create", "model": "m", **body})
    return await received(socket)


async def received(socket: Socket) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] not in ENDS:
        events.append(await socket.receive_json(timeout=5))
        if events[-1]["type"] != "error":
            EVENT.validate_json(json.dumps(events[-1]), strict=True)
    return events


def asked_of_the_model(served: Flow, number: int) -> list[Any]:
    return [message["content"] for message in served.requests[number].messages[1:]]


async def test_a_turn_is_the_events_of_a_stream(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Nothing here.")])
    async with connect(served) as socket:
        events = await turn(socket, input="What is here?")
    final = events[-1]["response"]
    _, found = await served.answer("GET", f"/v1/responses/{final['id']}")

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert final["status"] == "completed"
    assert found == final


async def test_turns_follow_each_other_on_one_socket(flow: StartFlow) -> None:
    served = await flow([Text("two"), Text("four")])
    async with connect(served) as socket:
        first = (await turn(socket, input="one"))[-1]["response"]
        await turn(socket, input="three", previous_response_id=first["id"])

    assert asked_of_the_model(served, 1) == ["one", "two", "three"]


async def test_what_is_not_stored_can_be_continued_on_the_same_socket_only(
    flow: StartFlow,
) -> None:
    served = await flow([Text("two"), Text("four"), Text("six")])
    async with connect(served) as socket:
        first = (await turn(socket, input="one", store=False))[-1]["response"]
        second = await turn(socket, input="three", store=False, previous_response_id=first["id"])
        async with connect(served) as other:
            [error] = await turn(other, input="x", previous_response_id=first["id"])
    status, _ = await served.answer("GET", f"/v1/responses/{first['id']}")

    assert second[-1]["response"]["previous_response_id"] == first["id"]
    assert asked_of_the_model(served, 1) == ["one", "two", "three"]
    assert (error["type"], error["status"]) == ("error", 400)
    assert error["error"]["code"] == "previous_response_not_found"
    assert status == 404


async def test_a_failed_continuation_forgets_what_it_continued(flow: StartFlow) -> None:
    served = await flow([Text("two"), HttpError(401, {"error": {"message": "no"}}), Text("x")])
    async with connect(served) as socket:
        first = (await turn(socket, input="one", store=False))[-1]["response"]
        failed = await turn(socket, input="three", previous_response_id=first["id"], store=False)
        [error] = await turn(socket, input="again", previous_response_id=first["id"])
        alive = await turn(socket, input="fresh")

    assert failed[-1]["type"] == "response.failed"
    assert error["error"]["code"] == "previous_response_not_found"
    assert alive[-1]["type"] == "response.completed"


BAD_MESSAGES: dict[str, Any] = {
    "no json": "{",
    "no object": "[]",
    "odd type": json.dumps({"type": "session.update"}),
    "no input": json.dumps({"type": "response.create"}),
    "background": json.dumps({"type": "response.create", "input": "x", "background": True}),
    "odd tool": json.dumps({"type": "response.create", "input": "x", "tools": [{"type": "mcp"}]}),
}


@pytest.mark.parametrize("case", BAD_MESSAGES)
async def test_a_bad_message_is_answered_and_the_socket_goes_on(flow: StartFlow, case: str) -> None:
    served = await flow(EchoModel())
    async with connect(served) as socket:
        await socket.send_str(BAD_MESSAGES[case])
        [error] = await received(socket)
        good = await turn(socket, input="Hello")

    assert (error["type"], error["status"]) == ("error", 400)
    assert set(error["error"]) == {"message", "type", "param", "code"}
    assert good[-1]["response"]["output"][-1]["content"][0]["text"] == "Hello"


async def test_bytes_are_refused(flow: StartFlow) -> None:
    served = await flow([])
    async with connect(served) as socket:
        await socket.send_bytes(b"{}")
        assert (await received(socket))[0]["status"] == 400


async def test_closing_the_socket_stops_the_turn(flow: StartFlow) -> None:
    served = await flow([Broken("Half an ans", how="stall")])
    async with connect(served) as socket:
        await socket.send_json({"type": "response.create", "input": "Hi"})
        created = await socket.receive_json(timeout=5)
        await served.provider.wait_for_requests()
        while (await socket.receive_json(timeout=5))["type"] != "response.output_text.delta":
            pass
    await served.provider.wait_for_disconnects(within=1.0)
    await eventually(lambda: len(served.gateway.adapter.running) == 0)
    found: dict[str, Any] = {}

    async def is_settled() -> bool:
        nonlocal found
        _, found = await served.answer("GET", f"/v1/responses/{created['response']['id']}")
        return bool(found["status"] != "in_progress")

    async with asyncio.timeout(2):
        while not await is_settled():
            await asyncio.sleep(0.01)

    assert found["status"] == "incomplete"
    assert found["output"][0]["content"][0]["text"] == "Half an ans"


async def test_a_socket_needs_the_key(flow: StartFlow) -> None:
    served = await flow([])
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await connect(served, headers={"Authorization": "Bearer wrong"})
    assert refusal.value.status == 401


async def test_a_plain_request_is_told_what_the_path_is_for(flow: StartFlow) -> None:
    served = await flow([])
    status, answer = await served.answer("GET", "/v1/responses")
    assert (status, answer["error"]["code"]) == (400, "websocket_required")
