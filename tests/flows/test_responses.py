"""The Responses API as clients meet it: created, streamed, chained, read back and deleted."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from hermes.testing.replies import Broken, Finish, HttpError, Text, ToolUse
from hermes.testing.scripted import EchoModel
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow, eventually

RESPONSES = "/v1/responses"
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


async def create(served: Flow, **body: Any) -> dict[str, Any]:
    status, answer = await served.answer("POST", RESPONSES, json=body)
    assert status == 200, answer
    Response.model_validate_json(json.dumps(answer), strict=True)
    return answer  # type: ignore[no-any-return]


async def streamed(served: Flow, **body: Any) -> list[dict[str, Any]]:
    """The events of a stream, each checked the way a strict reader does."""
    *events, last = parse_events(await served.text(RESPONSES, {**body, "stream": True}))
    assert last.data == "[DONE]"
    for event in events:
        EVENT.validate_json(event.data, strict=True)
    payloads = [json.loads(event.data) for event in events]
    assert [event.event for event in events] == [payload["type"] for payload in payloads]
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(payloads)))
    return payloads


def text_of(response: dict[str, Any]) -> str:
    """The text of the last output item, which must be a message."""
    assert response["output"][-1]["type"] == "message"
    return str(response["output"][-1]["content"][0]["text"])


def asked_of_the_model(served: Flow, number: int) -> list[Any]:
    """What the model was told after the system prompt."""
    return [message["content"] for message in served.requests[number].messages[1:]]


# --- create, get, delete --------------------------------------------------------------------------


async def test_a_response_can_be_read_back_and_deleted(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="mine", input="Hello")
    found = await served.sdk.responses.retrieve(made.id)
    status, deleted = await served.answer("DELETE", f"{RESPONSES}/{made.id}")

    assert made.output_text == "Hello"
    assert (made.model, made.status) == ("mine", "completed")
    assert found.model_dump(exclude={"_request_id"}) == made.model_dump(exclude={"_request_id"})
    assert (status, deleted) == (200, {"id": made.id, "object": "response", "deleted": True})
    with pytest.raises(openai.NotFoundError):
        await served.sdk.responses.retrieve(made.id)


async def test_what_is_not_to_be_stored_is_nowhere_to_be_found(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow(EchoModel())
    whole = await create(served, input="whisper", store=False, conversation="quiet")
    events = await streamed(served, input="whisper", store=False, conversation="quiet")
    ids = [whole["id"], events[-1]["response"]["id"]]
    answers = [await served.answer("GET", f"{RESPONSES}/{id_}") for id_ in ids]
    _, sessions = await served.answer("GET", "/api/sessions")
    later = await create(served, input="aloud", conversation="quiet")

    assert [(status, body["error"]["code"]) for status, body in answers] == [
        (404, "response_not_found")
    ] * 2
    assert sessions["data"] == []
    assert later["previous_response_id"] is None
    files = b"".join(path.read_bytes() for path in tmp_path.glob("*.db*"))
    assert b"whisper" not in files
    assert b"aloud" in files


async def test_a_tool_that_ran_is_part_of_the_output(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Nothing here.")])
    response = await create(served, input="What is here?")

    assert [item["type"] for item in response["output"]] == [
        "function_call",
        "function_call_output",
        "message",
    ]
    call, output, _ = response["output"]
    assert call["name"] == "list_files"
    assert call["call_id"] == output["call_id"]
    assert text_of(response) == "Nothing here."


async def test_an_answer_cut_at_the_length_limit_is_incomplete(flow: StartFlow) -> None:
    served = await flow([[Text("Half an ans"), Finish("length")]] * 2)
    whole = await create(served, input="Hello")
    events = await streamed(served, input="Hello")

    for response in (whole, events[-1]["response"]):
        assert response["status"] == "incomplete"
        assert response["incomplete_details"] == {"reason": "max_output_tokens"}
        assert text_of(response) == "Half an ans"
    assert events[-1]["type"] == "response.incomplete"


async def test_the_same_idempotency_key_gives_the_same_response(flow: StartFlow) -> None:
    served = await flow(lambda _: Text("Once"))
    once = {"Idempotency-Key": "k-1"}
    answers = await asyncio.gather(
        *(served.answer("POST", RESPONSES, json={"input": "a"}, headers=once) for _ in range(5))
    )

    assert len({body["id"] for _, body in answers}) == 1
    assert len(served.requests) == 1


# --- chains ---------------------------------------------------------------------------------------


async def test_a_chain_remembers_everything_and_stores_every_message_once(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow(EchoModel())
    previous, sizes = None, []
    for turn in range(5):
        answer = await create(served, input=f"message number {turn}", previous_response_id=previous)
        previous = answer["id"]
        sizes.append(_stored_sizes(tmp_path))

    with sqlite3.connect(tmp_path / "responses.db") as database:
        stored = "".join(row for (row,) in database.execute("SELECT messages FROM transcripts"))
    database.close()
    assert [stored.count(f"message number {turn}") for turn in range(5)] == [2] * 5
    growth = [after - before for before, after in pairwise(sizes)]
    assert len(set(growth)) == 1


def _stored_sizes(home: Path) -> int:
    with sqlite3.connect(home / "responses.db") as database:
        [(size,)] = database.execute("SELECT sum(length(messages)) FROM transcripts").fetchall()
    database.close()
    return int(size)


async def test_a_chain_reaches_the_model_whole_streamed_or_not(flow: StartFlow) -> None:
    served = await flow([Text("two"), Text("four"), Text("six")])
    first = await create(served, input="one")
    second = (await streamed(served, input="three", previous_response_id=first["id"]))[-1]
    third = await create(served, input="five", previous_response_id=second["response"]["id"])

    assert asked_of_the_model(served, 2) == ["one", "two", "three", "four", "five"]
    assert third["previous_response_id"] == second["response"]["id"]


async def test_two_branches_of_a_chain_do_not_see_each_other(flow: StartFlow) -> None:
    served = await flow([Text("root"), Text("left"), Text("right"), Text("end")])
    root = await create(served, input="start")
    left = await create(served, input="go left", previous_response_id=root["id"])
    await create(served, input="go right", previous_response_id=root["id"])
    await served.answer("DELETE", f"{RESPONSES}/{root['id']}")
    await create(served, input="on", previous_response_id=left["id"])

    assert asked_of_the_model(served, 2) == ["start", "root", "go right"]
    assert asked_of_the_model(served, 3) == ["start", "root", "go left", "left", "on"]


async def test_a_chain_goes_on_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = await flow([Text("Hi Ann")], home=home)
    first = await create(before, input="I am Ann", conversation="talk")
    await before.gateway.close()
    after = await flow([Text("Ann"), Text("Ann")], home=home)
    status, found = await after.answer("GET", f"{RESPONSES}/{first['id']}")
    await create(after, input="Who am I?", conversation="talk")

    assert (status, found) == (200, first)
    assert asked_of_the_model(after, 0) == ["I am Ann", "Hi Ann", "Who am I?"]


async def test_conversation_names_chain_and_keep_apart(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    first = await create(served, input="a1", conversation="a")
    await create(served, input="b1", conversation="b")
    third = await create(served, input="a2", conversation={"id": "a"})

    assert third["previous_response_id"] == first["id"]
    assert third["conversation"] == {"id": "a"}


async def test_instructions_are_inherited_along_the_chain(flow: StartFlow) -> None:
    served = await flow([Text("ok")] * 2)
    first = await create(served, input="one", instructions="Speak like a pirate.")
    await create(served, input="two", previous_response_id=first["id"])

    assert "pirate" in served.requests[1].messages[0]["content"]


async def test_a_turn_with_tools_can_be_continued(flow: StartFlow) -> None:
    call = ToolUse("list_files", {"path": "."}, id="call_1")
    served = await flow([call, Text("Empty."), Text("As I said.")])
    first = await streamed(served, input="What is here?")
    again = await create(served, input="Sure?", previous_response_id=first[-1]["response"]["id"])

    roles = [message["role"] for message in served.requests[2].messages[1:]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert [item["type"] for item in again["output"]] == ["message"]


# --- streams --------------------------------------------------------------------------------------


async def test_the_events_of_a_plain_answer_come_in_the_documented_order(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["Hel", "lo"])])
    events = await streamed(served, input="Hi")

    # Tokens that arrive together may be shown together.
    assert [kind for kind, _ in groupby(event["type"] for event in events)] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


async def test_the_final_object_is_what_was_streamed_and_what_get_returns(flow: StartFlow) -> None:
    served = await flow([[Text("Looking."), ToolUse("list_files", {"path": "."})], Text("Done.")])
    events = await streamed(served, input="Hi", metadata={"a": "b"}, temperature=0.5)
    final = events[-1]["response"]
    status, found = await served.answer("GET", f"{RESPONSES}/{final['id']}")
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    done = {
        event["output_index"]: event["item"]
        for event in events
        if event["type"] == "response.output_item.done"
    }

    assert (status, found) == (200, final)
    assert final["output"] == [done[index] for index in sorted(done)]
    assert [item["id"] for item in added] == [item["id"] for item in final["output"]]
    assert (final["metadata"], final["temperature"]) == ({"a": "b"}, 0.5)
    assert final["usage"]["output_tokens"] == 3


async def test_the_sdk_stream_helper_reads_a_turn_with_a_tool(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Nothing here.")])
    async with served.sdk.responses.stream(model="any", input="Hi") as stream:
        async for _ in stream:
            pass
        final = await stream.get_final_response()

    assert final.output_text == "Nothing here."


async def test_a_stream_can_be_read_back_as_soon_as_its_last_event_is_there(
    flow: StartFlow,
) -> None:
    served = await flow(EchoModel())
    for number in range(10):
        last = (await streamed(served, input=f"n{number}"))[-1]
        status, found = await served.answer("GET", f"{RESPONSES}/{last['response']['id']}")
        assert (status, found["status"]) == (200, "completed")


async def test_a_client_that_leaves_is_noticed_and_its_response_is_kept_as_incomplete(
    flow: StartFlow,
) -> None:
    served = await flow([Broken("Half an ans", how="stall"), Text("wer.")])
    response_id = await _leave_after_text(served)
    await served.provider.wait_for_disconnects(within=1.0)
    found: dict[str, Any] = {}

    async def is_settled() -> bool:
        nonlocal found
        _, found = await served.answer("GET", f"{RESPONSES}/{response_id}")
        return bool(found["status"] != "in_progress")

    async with asyncio.timeout(2):
        while not await is_settled():
            await asyncio.sleep(0.01)
    await create(served, input="Go on", previous_response_id=response_id)

    assert found["status"] == "incomplete"
    assert text_of(found) == "Half an ans"
    assert asked_of_the_model(served, 1) == ["Tell me", "Half an ans", "Go on"]
    await eventually(lambda: len(served.gateway.adapter.running) == 0)


async def _leave_after_text(served: Flow) -> str:
    stream = await served.sdk.responses.create(
        model="any",
        input="Tell me",
        stream=True,
        extra_headers={"X-Hermes-Disconnect": "cancel"},
    )
    response_id, text = "", ""
    async for event in stream:
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta":
            text += event.delta
        if text == "Half an ans":
            break
    await stream.close()
    return response_id


async def test_a_plain_request_whose_client_leaves_is_not_stored(flow: StartFlow) -> None:
    served = await flow([Broken(how="stall"), Text("ok")])
    asking = asyncio.create_task(create(served, input="Hello", conversation="talk"))
    await served.provider.wait_for_requests()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await served.provider.wait_for_disconnects(within=1.0)
    later = await create(served, input="Hello", conversation="talk")

    assert later["previous_response_id"] is None


# --- faults ---------------------------------------------------------------------------------------

FAULTS = {
    "reset": (Broken("Half an ans", how="reset"), "connection"),
    "eof": (Broken("Half an ans", how="eof"), "broke off"),
    "garbage": (Broken("Half an ans", how="garbage"), ""),
    "error event": (Broken("Half an ans", how="error_event"), "as its script says"),
    "refused": (HttpError(401, {"error": {"message": "the cause"}}), "the cause"),
    "rate limit": (
        HttpError(429, {"error": {"message": "the cause"}}, {"Retry-After": "0"}),
        "the cause",
    ),
}
ANSWERS = {"refused": (502, "provider_error"), "rate limit": (429, "rate_limit_exceeded")}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_provider_fault_is_a_failed_response(flow: StartFlow, fault: str) -> None:
    reply, cause = FAULTS[fault]
    served = await flow(lambda _: reply)
    status, body = await served.answer("POST", RESPONSES, json={"input": "Hello"})
    events = await streamed(served, input="Hello")
    last = events[-1]
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    _, found = await served.answer("GET", f"{RESPONSES}/{last['response']['id']}")

    assert (status, body["error"]["code"]) == ANSWERS.get(fault, (502, "agent_incomplete"))
    assert last["type"] == "response.failed"
    assert last["response"]["status"] == found["status"] == "failed"
    assert cause.lower() in last["response"]["error"]["message"].lower()
    assert "".join(deltas) == ("Half an ans" if isinstance(reply, Broken) else "")


async def test_a_store_that_fails_does_not_break_a_stream(flow: StartFlow) -> None:
    served = await flow([Text("Here it is.")])
    served.gateway.adapter._response_store = _FullDisk()
    events = await streamed(served, input="Hello")

    assert events[-1]["type"] == "response.completed"
    assert text_of(events[-1]["response"]) == "Here it is."


class _FullDisk:
    """Response records on a disk that takes nothing."""

    def put(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("disk full")

    def close(self) -> None:
        pass


MALFORMED: dict[str, tuple[dict[str, Any], int, str | None]] = {
    "no input": ({}, 400, "input"),
    "input number": ({"input": 42}, 400, "input"),
    "item text": ({"input": ["hi"]}, 400, "input[0]"),
    "odd item": ({"input": [{"type": "magic"}]}, 400, "input[0].type"),
    "odd role": ({"input": [{"role": "wizard", "content": "x"}]}, 400, "input[0].role"),
    "no question": ({"input": [{"role": "assistant", "content": "x"}]}, 400, "input"),
    "both": ({"input": "x", "conversation": "a", "previous_response_id": "b"}, 400, "conversation"),
    "odd store": ({"input": "x", "store": "maybe"}, 400, "store"),
    "hot": ({"input": "x", "temperature": 99}, 400, "temperature"),
    "odd metadata": ({"input": "x", "metadata": {"a": 1}}, 400, "metadata.a"),
    "odd truncation": ({"input": "x", "truncation": "some"}, 400, "truncation"),
    "odd context": ({"input": "x", "context_management": {}}, 400, "context_management"),
    "odd compaction": (
        {"input": "x", "context_management": [{"type": "magic"}]},
        400,
        "context_management[0].type",
    ),
    "tiny compaction": (
        {"input": "x", "context_management": [{"type": "compaction", "compact_threshold": 1}]},
        400,
        "compact_threshold",
    ),
    "odd tool": ({"input": "x", "tools": [{"type": "function"}]}, 400, "tools[0].name"),
    "unknown": ({"input": "x", "previous_response_id": "resp_x"}, 404, "previous_response_id"),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_request_is_refused_by_name(flow: StartFlow, case: str) -> None:
    body, expected, param = MALFORMED[case]
    served = await flow([])
    status, answer = await served.answer("POST", RESPONSES, json=body)
    error = answer["error"]

    assert (status, error["param"]) == (expected, param)
    assert (error["type"], type(error["code"])) == ("invalid_request_error", str)
    assert error["message"]


async def test_responses_of_another_gateway_cannot_be_read_or_deleted_without_the_key(
    flow: StartFlow,
) -> None:
    served = await flow(EchoModel())
    made = await create(served, input="Hello")
    url = f"{served.gateway.url}{RESPONSES}/{made['id']}"
    async with aiohttp.ClientSession() as stranger:
        read, deleted = await stranger.get(url), await stranger.delete(url)

    assert (read.status, deleted.status) == (401, 401)
    assert (await served.answer("GET", f"{RESPONSES}/{made['id']}"))[0] == 200
