"""Conversations that clients make and edit, and the turns that are spoken in them."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.conversations import ConversationItem
from pydantic import TypeAdapter

from hermes.testing.replies import Text, ToolUse
from hermes.testing.scripted import EchoModel
from tests.flows.conftest import Flow, StartFlow

ITEM: TypeAdapter[Any] = TypeAdapter(ConversationItem)
CONVERSATIONS = "/v1/conversations"


def said(content: str) -> Any:
    return {"type": "message", "role": "user", "content": content}


def asked_of_the_model(served: Flow, number: int) -> list[Any]:
    return [message["content"] for message in served.requests[number].messages[1:]]


async def texts(served: Flow, conversation_id: str) -> list[str]:
    """Everything said in a conversation, oldest first, each item checked strictly."""
    path = f"{CONVERSATIONS}/{conversation_id}/items?order=asc&limit=100"
    _, listed = await served.answer("GET", path)
    for item in listed["data"]:
        ITEM.validate_json(json.dumps(item), strict=True)
    return [item["content"][0]["text"] for item in listed["data"] if item["type"] == "message"]


async def test_a_conversation_is_made_read_changed_and_deleted(flow: StartFlow) -> None:
    served = await flow([])
    conversations = served.sdk.conversations
    made = await conversations.create(metadata={"topic": "tea"}, items=[said("Hello")])
    found = await conversations.retrieve(made.id)
    changed = await conversations.update(made.id, metadata={"topic": "coffee"})
    deleted = await conversations.delete(made.id)

    assert made.id.startswith("conv_")
    assert (found.metadata, changed.metadata) == ({"topic": "tea"}, {"topic": "coffee"})
    assert deleted.deleted
    with pytest.raises(openai.NotFoundError) as refusal:
        await conversations.retrieve(made.id)
    assert refusal.value.code == "conversation_not_found"


async def test_a_conversation_may_begin_without_anything(flow: StartFlow) -> None:
    served = await flow([])
    status, made = await served.answer("POST", CONVERSATIONS)
    _, listed = await served.answer("GET", f"{CONVERSATIONS}/{made['id']}/items")

    assert (status, made["metadata"]) == (200, {})
    assert listed == {
        "object": "list",
        "data": [],
        "first_id": "",
        "last_id": "",
        "has_more": False,
    }


async def test_items_are_added_listed_read_and_deleted(flow: StartFlow) -> None:
    served = await flow([])
    made = await served.sdk.conversations.create()
    items = served.sdk.conversations.items
    added = await items.create(made.id, items=[said(f"number {n}") for n in range(5)])
    newest = [item.id async for item in await items.list(made.id, limit=2)]
    one = await items.retrieve(added.data[1].id, conversation_id=made.id)
    await items.delete(added.data[1].id, conversation_id=made.id)

    assert newest == [item.id for item in reversed(added.data)]
    assert one == added.data[1]
    assert await texts(served, made.id) == ["number 0", "number 2", "number 3", "number 4"]
    with pytest.raises(openai.NotFoundError):
        await items.retrieve(added.data[1].id, conversation_id=made.id)


async def test_what_is_said_in_a_conversation_is_remembered_there(flow: StartFlow) -> None:
    served = await flow([Text("Hi Ann"), Text("Ann"), Text("Still Ann")])
    made = await served.sdk.conversations.create(items=[said("Be brief.")])
    for question in ("I am Ann", "Who am I?"):
        answer = await served.sdk.responses.create(model="m", input=question, conversation=made.id)
    stream = await served.sdk.responses.create(
        model="m", input="And now?", conversation={"id": made.id}, stream=True
    )
    _ = [event async for event in stream]

    assert answer.conversation is not None
    assert (answer.conversation.id, answer.previous_response_id) == (made.id, None)
    everything = ["Be brief.", "I am Ann", "Hi Ann", "Who am I?", "Ann", "And now?", "Still Ann"]
    assert await texts(served, made.id) == everything
    assert asked_of_the_model(served, 2) == everything[:-1]


async def test_an_edited_conversation_is_what_its_items_say(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Empty."), Text("ok")])
    made = await served.sdk.conversations.create()
    await served.sdk.responses.create(model="m", input="What is here?", conversation=made.id)
    _, listed = await served.answer("GET", f"{CONVERSATIONS}/{made.id}/items")
    answer = next(item for item in listed["data"] if item.get("role") == "assistant")
    items = served.sdk.conversations.items
    await items.delete(answer["id"], conversation_id=made.id)
    await items.create(
        made.id, items=[{"type": "message", "role": "assistant", "content": "A cat."}]
    )
    await served.sdk.responses.create(model="m", input="Sure?", conversation=made.id)

    roles = [message["role"] for message in served.requests[2].messages[1:]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert served.requests[2].messages[4]["content"] == "A cat."


async def test_system_items_of_a_conversation_hold_for_every_turn(flow: StartFlow) -> None:
    served = await flow([Text("Arr"), Text("Arr again")])
    rule = {"type": "message", "role": "developer", "content": "Speak like a pirate."}
    made = await served.sdk.conversations.create(items=[rule])  # type: ignore[list-item]
    for question in ("Hello", "Again"):
        await served.sdk.responses.create(model="m", input=question, conversation=made.id)

    assert all("pirate" in request.messages[0]["content"] for request in served.requests)
    assert asked_of_the_model(served, 1) == ["Hello", "Arr", "Again"]


async def test_deleting_the_last_response_leaves_what_was_said(flow: StartFlow) -> None:
    served = await flow([Text("two"), Text("four")])
    made = await served.sdk.conversations.create()
    first = await served.sdk.responses.create(model="m", input="one", conversation=made.id)
    await served.sdk.responses.delete(first.id)
    await served.sdk.responses.create(model="m", input="three", conversation=made.id)

    assert asked_of_the_model(served, 1) == ["one", "two", "three"]


async def test_what_is_not_to_be_stored_does_not_enter_a_conversation(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = await served.sdk.conversations.create()
    await served.sdk.responses.create(model="m", input="psst", conversation=made.id, store=False)

    assert await texts(served, made.id) == []


async def test_an_id_that_does_not_exist_is_refused_and_a_name_begins(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    status, answer = await served.answer(
        "POST", "/v1/responses", json={"input": "Hi", "conversation": "conv_unknown"}
    )
    named, _ = await served.answer(
        "POST", "/v1/responses", json={"input": "Hi", "conversation": "my-chat"}
    )

    assert (status, answer["error"]["code"]) == (404, "conversation_not_found")
    assert answer["error"]["param"] == "conversation"
    assert named == 200


MALFORMED: dict[str, tuple[str, dict[str, Any], str]] = {
    "items text": ("", {"items": "Hi"}, "items"),
    "items many": ("", {"items": [said("x")] * 21}, "items"),
    "odd item": ("", {"items": [{"type": "magic"}]}, "items[0].type"),
    "odd metadata": ("", {"metadata": {"a": 1}}, "metadata.a"),
    "no metadata": ("/{id}", {}, "metadata"),
    "no items": ("/{id}/items", {}, "items"),
    "empty items": ("/{id}/items", {"items": []}, "items"),
    "unknown reference": ("/{id}/items", {"items": [{"type": "item_reference", "id": "x"}]}, ""),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_request_is_refused_by_name(flow: StartFlow, case: str) -> None:
    path, body, param = MALFORMED[case]
    served = await flow([])
    made = await served.sdk.conversations.create()
    status, answer = await served.answer("POST", CONVERSATIONS + path.format(id=made.id), json=body)

    assert status in (400, 404)
    assert answer["error"]["param"] == (param or "items[0].id")
