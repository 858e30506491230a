"""Long inputs counted and made short."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai.types.responses import CompactedResponse

from hermes.testing.replies import HttpError, Text
from tests.flows.conftest import Flow, StartFlow

COMPACT = "/v1/responses/compact"
TALK: list[Any] = [
    {"role": "user", "content": "I am Ann"},
    {"role": "assistant", "content": "Hi Ann"},
]


async def compacted(served: Flow, **body: Any) -> CompactedResponse:
    status, answer = await served.answer("POST", COMPACT, json={"model": "m", **body})
    assert status == 200, answer
    return CompactedResponse.model_validate(answer, strict=True)


async def test_a_compaction_stands_for_what_it_was_made_of(flow: StartFlow) -> None:
    served = await flow([Text("The user is called Ann."), Text("Ann")])
    short = await served.sdk.responses.compact(model="m", input=TALK)
    question: Any = {"role": "user", "content": "Who am I?"}
    item: Any = short.output[0].model_dump(exclude_none=True)
    answer = await served.sdk.responses.create(model="m", input=[item, question])

    told = [message["content"] for message in served.requests[1].messages[1:]]
    assert "The user is called Ann." in told[0]
    assert told[-1] == "Who am I?"
    assert answer.output_text == "Ann"


async def test_the_plain_model_is_asked_for_the_summary(flow: StartFlow) -> None:
    served = await flow([Text("Summary")])
    short = await compacted(served, input=TALK)
    [asked] = served.requests

    assert "tools" not in asked.body
    assert [message["content"] for message in asked.messages if message["role"] != "system"][
        :2
    ] == ["I am Ann", "Hi Ann"]
    assert short.output[0].type == "compaction"
    assert short.usage.output_tokens > 0


async def test_a_stored_chain_can_be_compacted(flow: StartFlow) -> None:
    served = await flow([Text("Hi Ann"), Text("Ann said hello")])
    first = await served.sdk.responses.create(model="m", input="I am Ann")
    short = await compacted(served, previous_response_id=first.id)

    assert short.output[0].type == "compaction"
    assert "Hi Ann" in [message["content"] for message in served.requests[1].messages]


async def test_an_altered_or_foreign_compaction_is_refused(flow: StartFlow) -> None:
    served = await flow([Text("Summary")])
    short = await compacted(served, input=TALK)
    content = short.output[0].encrypted_content  # type: ignore[union-attr]
    altered = content[:-6] + ("A" if content[-6] != "A" else "B") + content[-5:]
    for wrong in (altered, "gAAAAABforeign"):
        items: Any = [
            {"type": "compaction", "encrypted_content": wrong},
            {"role": "user", "content": "Hi"},
        ]
        with pytest.raises(openai.BadRequestError) as refusal:
            await served.sdk.responses.create(model="m", input=items)
        assert refusal.value.code == "invalid_compaction"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": "Hi"}, "model"),
        ({"model": "m"}, "input"),
        ({"model": "m", "input": []}, "input"),
        ({"model": "m", "input": 0}, "input"),
        ({"model": "m", "input": False}, "input"),
        ({"model": "m", "input": {}}, "input"),
    ],
)
async def test_without_a_model_or_an_input_there_is_nothing_to_do(
    flow: StartFlow, body: dict[str, Any], param: str
) -> None:
    served = await flow([])
    status, answer = await served.answer("POST", COMPACT, json=body)
    assert (status, answer["error"]["param"]) == (400, param)


async def test_a_summary_that_cannot_be_had_is_an_error(flow: StartFlow) -> None:
    served = await flow(lambda _: HttpError(401, {"error": {"message": "the cause"}}))
    status, answer = await served.answer("POST", COMPACT, json={"model": "m", "input": TALK})
    assert status >= 400
    assert "the cause" in answer["error"]["message"]


async def test_input_tokens_grow_with_the_input(flow: StartFlow) -> None:
    served = await flow([Text("Hi")])
    count = served.sdk.responses.input_tokens.count
    first = await served.sdk.responses.create(model="m", input="Hello there")
    short = await count(model="m", input="Hello")
    long = await count(model="m", input="Hello " * 100)
    chained = await count(model="m", input="Hello", previous_response_id=first.id)
    tooled = await count(
        model="m",
        input="Hello",
        tools=[{"type": "function", "name": "f", "parameters": {}, "strict": None}],
    )

    assert short.object == "response.input_tokens"
    assert 0 < short.input_tokens < chained.input_tokens < long.input_tokens
    assert short.input_tokens < tooled.input_tokens
