"""LiteLLM, over both of OpenAI's APIs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import litellm
import pytest
from pydantic import BaseModel

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("LiteLLM", "litellm")

QUESTION = [{"role": "user", "content": "Hello"}]
CHAT_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "?", "parameters": scenes.WEATHER},
}
TOOL = {"type": "function", "name": "get_weather", "parameters": scenes.WEATHER}

Options = dict[str, Any]


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture
def where(served: Served) -> Options:
    """What every call is told: the model, the gateway and its key."""
    return {
        "model": f"openai/{MODEL}",
        "api_base": served.base_url,
        "api_key": KEY,
        "num_retries": 0,
        "max_retries": 0,
    }


def said(response: Any) -> str:
    messages = [item for item in response.output if item.type == "message"]
    return "".join(part.text for item in messages for part in item.content)


@pytest.mark.case("models")
def test_models_are_listed(served: Served) -> None:
    listed = litellm.get_valid_models(
        check_provider_endpoint=True,
        custom_llm_provider="openai",
        api_base=served.base_url.removesuffix("/v1"),
        api_key=KEY,
    )

    assert any(name.endswith(MODEL) for name in listed)


@pytest.mark.case("chat")
def test_chat_answers(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = litellm.completion(messages=QUESTION, **where)

    assert answer.choices[0].message.content == scenes.ANSWER


@pytest.mark.case("stream")
def test_chat_streams(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    chunks = list(litellm.completion(messages=QUESTION, stream=True, **where))

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == scenes.ANSWER


@pytest.mark.case("server tool")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_chat_leaves_the_servers_tool_alone(
    where: Options, stage: Stage, served: Served, stream: bool
) -> None:
    scenes.lists_its_files(stage, served)
    answer = litellm.completion(messages=QUESTION, stream=stream, **where)
    if stream:
        answer = litellm.stream_chunk_builder(list(answer))

    assert answer.choices[0].message.content == scenes.LISTED
    assert not answer.choices[0].message.tool_calls
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
def test_a_response_has_the_servers_tool_as_done(
    where: Options, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    response = litellm.responses(input="Hello", **where)

    assert said(response) == scenes.LISTED
    assert "function_call" not in [item.type for item in response.output]
    assert scenes.listed_once(stage)


@pytest.mark.case("client tool")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_chat_calls_the_clients_tool_and_goes_on(
    where: Options, stage: Stage, stream: bool
) -> None:
    scenes.asks_for_the_weather(stage)
    asking = litellm.completion(messages=QUESTION, tools=[CHAT_TOOL], stream=stream, **where)
    if stream:
        asking = litellm.stream_chunk_builder(list(asking))
    message = asking.choices[0].message
    (call,) = message.tool_calls
    assert json.loads(call.function.arguments) == scenes.CITY

    result = {"role": "tool", "tool_call_id": call.id, "content": scenes.REPORT}
    history = [*QUESTION, message.model_dump(exclude_none=True), result]
    answer = litellm.completion(messages=history, tools=[CHAT_TOOL], **where)

    assert answer.choices[0].message.content == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("client tool")
def test_a_response_calls_the_clients_tool(where: Options, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    (call,) = litellm.responses(input="Hello", tools=[TOOL], **where).output

    assert (call.type, call.name) == ("function_call", "get_weather")
    assert json.loads(call.arguments) == scenes.CITY


@pytest.mark.case("structured")
def test_chat_gives_structured_answers(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    answer = litellm.completion(messages=QUESTION, response_format=Person, **where)

    assert json.loads(answer.choices[0].message.content) == scenes.PERSON
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
def test_chat_shows_the_model_a_picture(where: Options, stage: Stage) -> None:
    stage.says(Text("Red."))
    picture = {"type": "image_url", "image_url": {"url": scenes.PICTURE}}
    question = {"role": "user", "content": [{"type": "text", "text": "Colour?"}, picture]}
    answer = litellm.completion(messages=[question], **where)

    assert answer.choices[0].message.content == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("responses")
def test_a_response_is_created(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert said(litellm.responses(input="Hello", **where)) == scenes.ANSWER


@pytest.mark.case("responses stream")
def test_a_response_streams(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    events = list(litellm.responses(input="Hello", stream=True, **where))

    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == scenes.ANSWER
    assert events[-1].type == "response.completed"


@pytest.mark.case("chain")
def test_a_response_continues_another(where: Options, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    first = litellm.responses(input="My colour is blue.", **where)
    second = litellm.responses(input="Which?", previous_response_id=first.id, **where)

    assert said(second) == "Blue."
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("stored")
def test_a_response_is_read_back_and_deleted(where: Options, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    made = litellm.responses(input="Hello", **where)
    here = {
        "custom_llm_provider": "openai",
        "api_base": where["api_base"],
        "api_key": where["api_key"],
    }

    assert said(litellm.get_responses(made.id, **here)) == scenes.ANSWER
    litellm.delete_responses(made.id, **here)
    # What LiteLLM makes of every refusal of type invalid_request_error, OpenAI's own 404 included.
    with pytest.raises(litellm.BadRequestError, match="response_not_found"):
        litellm.get_responses(made.id, **here)


@pytest.mark.case("errors")
def test_a_wrong_key_is_an_authentication_error(where: Options) -> None:
    with pytest.raises(litellm.AuthenticationError):
        litellm.completion(messages=QUESTION, **where | {"api_key": "wrong"})


@pytest.mark.case("errors")
def test_a_bad_request_is_a_bad_request_error(where: Options) -> None:
    with pytest.raises(litellm.BadRequestError):
        litellm.completion(messages=QUESTION, n=2, **where)


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "raised"),
    [
        (scenes.is_busy, litellm.RateLimitError),
        (scenes.is_down, litellm.ServiceUnavailableError),
        (scenes.rejects_the_key, litellm.BadGatewayError),
    ],
)
def test_a_failing_provider_raises_its_class(
    where: Options, stage: Stage, script: Any, raised: type[Exception]
) -> None:
    stage.always(script)

    with pytest.raises(raised):
        litellm.completion(messages=QUESTION, **where)


@pytest.mark.case("leaving")
async def test_closing_a_stream_stops_the_model(where: Options, stage: Stage) -> None:
    stage.starts_and_waits()
    stream = await litellm.acompletion(messages=QUESTION, stream=True, **where)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.aclose()
    await asyncio.to_thread(stage.wait_until_left)
