"""Responses in the background, and streams read again: polled, followed, replayed, stopped."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseItem, ResponseStreamEvent
from pydantic import TypeAdapter

from hermes.testing.replies import Broken, HttpError, Text, ToolUse
from hermes.testing.scripted import EchoModel
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow, eventually

RESPONSES = "/v1/responses"
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ITEM: TypeAdapter[Any] = TypeAdapter(ResponseItem)
STALLED = Broken("Half an ans", how="stall")


async def settled(served: Flow, response_id: str) -> Response:
    """The response as soon as it is no longer in progress."""
    async with asyncio.timeout(5):
        while (found := await served.sdk.responses.retrieve(response_id)).status == "in_progress":
            await asyncio.sleep(0.01)
    return found


async def events_of(served: Flow, path: str) -> list[dict[str, Any]]:
    """The events of a replayed stream, each checked the way a strict reader does."""
    async with served.http.get(served.gateway.url + path) as response:
        assert response.status == 200, await response.text()
        *events, last = parse_events(await response.text())
    assert last.data == "[DONE]"
    for event in events:
        EVENT.validate_json(event.data, strict=True)
    return [json.loads(event.data) for event in events]


async def begun(served: Flow) -> str:
    """A response in the background whose model has said something and says no more."""
    made = await served.sdk.responses.create(model="m", input="Hi", background=True)
    await served.provider.wait_for_requests()
    return made.id


async def test_a_response_in_the_background_is_answered_at_once_and_made_later(
    flow: StartFlow,
) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hello", background=True)
    found = await settled(served, made.id)

    assert (made.status, made.background, made.output) == ("in_progress", True, [])
    assert (found.status, found.output_text) == ("completed", "Hello")
    assert found.usage is not None


async def test_whoever_polls_sees_how_far_the_response_has_come(flow: StartFlow) -> None:
    served = await flow([STALLED])
    response_id = await begun(served)
    await _has_said_something(served, response_id)
    found = await served.sdk.responses.retrieve(response_id)
    async with asyncio.timeout(2):
        while found.output_text != "Half an ans":
            assert "Half an ans".startswith(found.output_text)
            found = await served.sdk.responses.retrieve(response_id)

    assert found.status == "in_progress"
    assert found.output[0].status == "in_progress"


async def test_a_response_in_the_background_can_be_continued(flow: StartFlow) -> None:
    served = await flow([Text("two"), Text("four")])
    first = await served.sdk.responses.create(model="m", input="one", background=True)
    await settled(served, first.id)
    await served.sdk.responses.create(model="m", input="three", previous_response_id=first.id)

    assert [message["content"] for message in served.requests[1].messages[1:]] == [
        "one",
        "two",
        "three",
    ]


async def test_a_failure_in_the_background_is_a_failed_response(flow: StartFlow) -> None:
    served = await flow(lambda _: HttpError(401, {"error": {"message": "the cause"}}))
    made = await served.sdk.responses.create(model="m", input="Hello", background=True)
    found = await settled(served, made.id)

    assert found.status == "failed"
    assert found.error is not None
    assert "the cause" in found.error.message


async def test_what_is_not_stored_cannot_be_made_in_the_background(flow: StartFlow) -> None:
    served = await flow([])
    with pytest.raises(openai.BadRequestError) as refusal:
        await served.sdk.responses.create(model="m", input="Hi", background=True, store=False)
    assert refusal.value.param == "background"


async def test_a_cancelled_response_stops_and_keeps_what_it_said(flow: StartFlow) -> None:
    served = await flow([STALLED, Text("wer.")])
    response_id = await begun(served)
    await _has_said_something(served, response_id)
    cancelled = await served.sdk.responses.cancel(response_id)
    await served.provider.wait_for_disconnects(within=1.0)
    again = await served.sdk.responses.cancel(response_id)
    found = await served.sdk.responses.retrieve(response_id)
    events = await events_of(served, f"{RESPONSES}/{response_id}?stream=true")

    assert cancelled.status == again.status == found.status == "cancelled"
    assert found.output_text == "Half an ans"
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["status"] == "cancelled"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    await eventually(lambda: len(served.gateway.adapter.running) == 0)


async def _has_said_something(served: Flow, response_id: str) -> None:
    url = f"{served.gateway.url}{RESPONSES}/{response_id}?stream=true"
    async with served.http.get(url) as response:
        async for line in response.content:
            if b"output_text.delta" in line:
                return


async def test_a_finished_response_cannot_be_cancelled_any_more(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hi", background=True)
    await settled(served, made.id)
    assert (await served.sdk.responses.cancel(made.id)).status == "completed"


async def test_only_a_response_in_the_background_can_be_cancelled(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hi")
    with pytest.raises(openai.BadRequestError) as refusal:
        await served.sdk.responses.cancel(made.id)
    with pytest.raises(openai.NotFoundError):
        await served.sdk.responses.cancel("resp_unknown")
    assert refusal.value.code == "not_in_background"


async def test_a_deleted_response_stops_and_does_not_come_back(flow: StartFlow) -> None:
    served = await flow([STALLED])
    response_id = await begun(served)
    await served.sdk.responses.delete(response_id)
    await served.provider.wait_for_disconnects(within=1.0)

    with pytest.raises(openai.NotFoundError):
        await served.sdk.responses.retrieve(response_id)
    with pytest.raises(openai.NotFoundError) as refusal:
        await served.sdk.responses.create(
            model="m", input="Go on", previous_response_id=response_id
        )
    assert refusal.value.code == "previous_response_not_found"


async def test_a_stream_whose_response_is_deleted_ends_and_is_not_stored(flow: StartFlow) -> None:
    served = await flow([STALLED])
    stream = await served.sdk.responses.create(model="m", input="Hi", stream=True)
    response_id, kinds = "", []
    async for event in stream:
        kinds.append(event.type)
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta" and "deleted" not in kinds:
            kinds.append("deleted")
            await served.sdk.responses.delete(response_id)

    assert kinds[-1] == "response.incomplete"
    with pytest.raises(openai.NotFoundError):
        await served.sdk.responses.retrieve(response_id)


async def test_a_client_that_leaves_a_background_stream_does_not_stop_it(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["one ", "two ", "three"], interval=0.05)])
    stream = await served.sdk.responses.create(
        model="m", input="Count", background=True, stream=True
    )
    response_id, seen = "", -1
    async for event in stream:
        if event.type == "response.created":
            response_id = event.response.id
        seen = event.sequence_number
        if event.type == "response.output_text.delta":
            break
    await stream.close()
    rest = await served.sdk.responses.retrieve(response_id, stream=True, starting_after=seen)
    events = [event async for event in rest]
    found = await served.sdk.responses.retrieve(response_id)

    assert events[0].sequence_number == seen + 1
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == found.output_text == "one two three"


async def test_several_clients_can_follow_one_response(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["one ", "two ", "three"], interval=0.05)])
    made = await served.sdk.responses.create(model="m", input="Count", background=True)
    path = f"{RESPONSES}/{made.id}?stream=true"
    first, second = await asyncio.gather(events_of(served, path), events_of(served, path))

    assert first == second == await events_of(served, path)
    assert [event["sequence_number"] for event in first] == list(range(len(first)))
    assert first[-1]["type"] == "response.completed"


async def test_a_stored_stream_is_replayed_as_it_was(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Nothing here.")])
    text = await served.text(RESPONSES, {"input": "Hi", "stream": True})
    sent = [json.loads(event.data) for event in parse_events(text)[:-1]]
    path = f"{RESPONSES}/{sent[-1]['response']['id']}?stream=true"

    assert await events_of(served, path) == sent
    assert await events_of(served, f"{path}&starting_after=4") == sent[5:]
    assert await events_of(served, f"{path}&starting_after={len(sent)}") == []


async def test_a_stream_can_be_replayed_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = await flow([STALLED], home=home)
    response_id = await begun(before)
    await _has_said_something(before, response_id)
    await before.gateway.close()
    after = await flow([], home=home)
    found = await after.sdk.responses.retrieve(response_id)
    events = await events_of(after, f"{RESPONSES}/{response_id}?stream=true")

    assert found.status == "incomplete"
    assert found.output_text == "Half an ans"
    assert events[-1]["type"] == "response.incomplete"


async def test_a_response_that_was_not_streamed_cannot_be_replayed(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hi")
    status, answer = await served.answer("GET", f"{RESPONSES}/{made.id}?stream=true")
    assert (status, answer["error"]["code"]) == (400, "events_not_stored")


async def test_input_items_are_listed_with_ids_in_pages(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    said = [{"role": "user", "content": f"number {number}"} for number in range(5)]
    made = await served.sdk.responses.create(model="m", input=said)  # type: ignore[arg-type]
    page = await served.sdk.responses.input_items.list(made.id, limit=2, order="asc")
    everything = [item async for item in page]
    _, raw = await served.answer("GET", f"{RESPONSES}/{made.id}/input_items?limit=2")

    for item in raw["data"]:
        ITEM.validate_python(item, strict=True)
    assert [item.content[0].text for item in everything] == [one["content"] for one in said]  # type: ignore[union-attr]
    assert len({item.id for item in everything}) == 5
    assert (raw["first_id"], raw["last_id"]) == (everything[4].id, everything[3].id)
    assert raw["has_more"]


async def test_stored_items_can_be_sent_by_reference(flow: StartFlow) -> None:
    served = await flow([Text("Hi Ann"), Text("Ann")])
    first = await served.sdk.responses.create(model="m", input="I am Ann")
    _, listed = await served.answer("GET", f"{RESPONSES}/{first.id}/input_items")
    ids = [listed["data"][0]["id"], first.output[0].id]
    references: Any = [{"type": "item_reference", "id": item_id} for item_id in ids]
    question = {"role": "user", "content": "Who am I?"}
    await served.sdk.responses.create(model="m", input=[*references, question], store=False)
    await served.sdk.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError) as refusal:
        await served.sdk.responses.create(model="m", input=[*references, question])

    assert [message["content"] for message in served.requests[1].messages[1:]] == [
        "I am Ann",
        "Hi Ann",
        "Who am I?",
    ]
    assert (refusal.value.code, refusal.value.param) == ("item_not_found", "input[0].id")


BAD_QUERIES = {
    "limit=0": "limit",
    "limit=many": "limit",
    "order=up": "order",
    "after=msg_x": "after",
    "include=x": "include[0]",
}


@pytest.mark.parametrize("query", BAD_QUERIES)
async def test_an_odd_page_is_refused_by_name(flow: StartFlow, query: str) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hi")
    status, answer = await served.answer("GET", f"{RESPONSES}/{made.id}/input_items?{query}")

    assert status in (400, 404)
    assert answer["error"]["param"] == BAD_QUERIES[query]


@pytest.mark.parametrize("query", ["starting_after=abc", "starting_after=-1", "stream=perhaps"])
async def test_an_odd_question_about_a_response_is_refused(flow: StartFlow, query: str) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.responses.create(model="m", input="Hi")
    status, answer = await served.answer("GET", f"{RESPONSES}/{made.id}?{query}")

    assert (status, answer["error"]["param"]) == (400, query.partition("=")[0])
