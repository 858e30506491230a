"""Chat completions that clients ask to be kept, through the SDK."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionDeleted

from hermes.testing.replies import HttpError, Text
from tests.flows.conftest import StartFlow

HELLO: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
]


async def test_a_completion_is_kept_changed_and_deleted(flow: StartFlow) -> None:
    served = await flow([Text("Hi.")])
    chats = served.sdk.chat.completions
    made = await chats.create(model="mine", messages=HELLO, store=True, metadata={"k": "1"})
    found = await chats.retrieve(made.id)
    changed = await chats.update(made.id, metadata={"k": "2"})
    messages = [message async for message in chats.messages.list(made.id)]
    gone = await chats.delete(made.id)

    ChatCompletion.model_validate(found.model_dump(), strict=True)
    assert found.choices == made.choices
    assert changed.model_dump()["metadata"] == {"k": "2"}
    assert [(message.id, message.content) for message in messages] == [
        (f"{made.id}-0", "Be brief."),
        (f"{made.id}-1", None),
    ]
    ChatCompletionDeleted.model_validate(gone.model_dump(), strict=True)
    with pytest.raises(openai.NotFoundError) as caught:
        await chats.retrieve(made.id)
    assert caught.value.code == "completion_not_found"


async def test_streams_are_kept_too_and_found_by_their_metadata(flow: StartFlow) -> None:
    served = await flow([Text("One."), Text("Two.")])
    chats = served.sdk.chat.completions
    stream = await chats.create(
        model="a", messages=HELLO, store=True, metadata={"k": "1"}, stream=True
    )
    streamed = [chunk.id async for chunk in stream]
    whole = await chats.create(model="b", messages=HELLO, store=True)

    assert [chat.id async for chat in chats.list()] == [streamed[0], whole.id]
    assert [chat.id async for chat in chats.list(order="desc", limit=1)] == [whole.id, streamed[0]]
    assert [chat.id async for chat in chats.list(model="b")] == [whole.id]
    [kept] = [chat async for chat in chats.list(metadata={"k": "1"})]
    assert (kept.id, kept.choices[0].message.content) == (streamed[0], "One.")


async def test_what_was_not_asked_for_or_failed_is_not_kept(flow: StartFlow) -> None:
    served = await flow([Text("Hi."), HttpError(401, {"error": {"message": "no"}})])
    chats = served.sdk.chat.completions
    await chats.create(model="m", messages=HELLO)
    with pytest.raises(openai.APIStatusError):
        await chats.create(model="m", messages=HELLO, store=True)

    assert [chat async for chat in chats.list()] == []


@pytest.mark.parametrize(
    ("query", "param"), [("limit=0", "limit"), ("order=up", "order"), ("after=x", "after")]
)
async def test_a_page_that_makes_no_sense_is_refused(
    flow: StartFlow, query: str, param: str
) -> None:
    served = await flow([])
    status, answer = await served.answer("GET", f"/v1/chat/completions?{query}")

    assert (status, answer["error"]["param"]) == (400, param)
