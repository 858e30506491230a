"""LangChain: the chat model alone, and an agent around it, over both of OpenAI's APIs."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("LangChain", "langchain-openai")

both_apis = pytest.mark.parametrize("over_responses", [False, True], ids=["chat", "responses"])


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    assert city == scenes.CITY["city"]
    return scenes.REPORT


def model_of(served: Served, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model=MODEL, base_url=served.base_url, api_key=KEY, max_retries=0, **options)


def last_text(state: dict[str, Any]) -> str:
    return str(state["messages"][-1].text)


@pytest.mark.case("chat")
def test_the_model_answers(served: Served, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = model_of(served).invoke("Hello")

    assert answer.text == scenes.ANSWER
    assert answer.usage_metadata is not None


@pytest.mark.case("stream")
def test_the_model_streams(served: Served, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    pieces = [chunk.text for chunk in model_of(served).stream("Hello")]

    assert "".join(pieces) == scenes.ANSWER


@pytest.mark.case("responses")
def test_the_model_answers_over_responses(served: Served, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = model_of(served, use_responses_api=True).invoke("Hello")

    assert answer.text == scenes.ANSWER
    assert answer.response_metadata["id"].startswith("resp_")


@pytest.mark.case("responses stream")
def test_the_model_streams_over_responses(served: Served, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    pieces = [chunk.text for chunk in model_of(served, use_responses_api=True).stream("Hello")]

    assert "".join(pieces) == scenes.ANSWER


@pytest.mark.case("chain")
def test_the_model_continues_by_the_previous_response(served: Served, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    model = model_of(served, use_responses_api=True, use_previous_response_id=True)
    question = HumanMessage("My colour is blue.")
    noted = model.invoke([question])
    answer = model.invoke([question, noted, HumanMessage("Which?")])

    assert answer.text == "Blue."
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("server tool")
@both_apis
def test_the_servers_tool_is_not_the_models_pending_call(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    scenes.lists_its_files(stage, served)
    answer = model_of(served, use_responses_api=over_responses).invoke("Which files?")

    assert answer.text == scenes.LISTED
    assert answer.tool_calls == []
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
@both_apis
def test_an_agent_leaves_the_servers_tool_alone(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    scenes.lists_its_files(stage, served)
    agent = create_agent(model_of(served, use_responses_api=over_responses), [get_weather])
    state = agent.invoke({"messages": [HumanMessage("Which files?")]})

    assert last_text(state) == scenes.LISTED
    assert not any(isinstance(message, ToolMessage) for message in state["messages"])
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
@both_apis
def test_an_agent_that_streams_leaves_the_servers_tool_alone(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    scenes.lists_its_files(stage, served)
    agent = create_agent(
        model_of(served, use_responses_api=over_responses, streaming=True), [get_weather]
    )
    streamed = agent.stream({"messages": [HumanMessage("?")]}, stream_mode="messages")

    # Over Responses the stream hands out the parts, and the whole message after them.
    assert scenes.LISTED in "".join(message.text for message, _ in streamed)
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
@both_apis
def test_what_an_agent_sends_back_is_understood(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    agent = create_agent(model_of(served, use_responses_api=over_responses), [get_weather])
    scenes.lists_its_files(stage, served)
    state = agent.invoke({"messages": [HumanMessage("Which files?")]})
    stage.says(Text("Certainly."))
    again = agent.invoke({"messages": [*state["messages"], HumanMessage("Sure?")]})

    assert last_text(again) == "Certainly."
    assert scenes.LISTED in str(stage.requests[-1].messages)


@pytest.mark.case("client tool")
@both_apis
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_an_agent_runs_its_own_tool(
    served: Served, stage: Stage, over_responses: bool, streaming: bool
) -> None:
    scenes.asks_for_the_weather(stage)
    model = model_of(served, use_responses_api=over_responses, streaming=streaming)
    state = create_agent(model, [get_weather]).invoke({"messages": [HumanMessage("Weather?")]})

    assert last_text(state) == scenes.FORECAST
    (called,) = [m for m in state["messages"] if isinstance(m, AIMessage) and m.tool_calls]
    assert called.tool_calls[0]["args"] == scenes.CITY
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
@both_apis
def test_the_model_gives_structured_answers(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    model = model_of(served, use_responses_api=over_responses)

    assert model.with_structured_output(Person).invoke("Who?") == Person(**scenes.PERSON)
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
@both_apis
def test_the_model_is_shown_a_picture(served: Served, stage: Stage, over_responses: bool) -> None:
    stage.says(Text("Red."))
    picture = {"type": "image_url", "image_url": {"url": scenes.PICTURE}}
    question = HumanMessage(content=[{"type": "text", "text": "Colour?"}, picture])

    assert model_of(served, use_responses_api=over_responses).invoke([question]).text == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("errors")
def test_a_wrong_key_is_an_authentication_error(served: Served) -> None:
    model = ChatOpenAI(model=MODEL, base_url=served.base_url, api_key="wrong", max_retries=0)

    with pytest.raises(openai.AuthenticationError):
        model.invoke("Hello")


@pytest.mark.case("errors")
def test_a_bad_request_is_a_bad_request_error(served: Served) -> None:
    with pytest.raises(openai.BadRequestError):
        model_of(served, n=2).invoke("Hello")


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "raised"),
    [
        (scenes.is_busy, openai.RateLimitError),
        (scenes.is_down, openai.InternalServerError),
        (scenes.rejects_the_key, openai.InternalServerError),
    ],
)
def test_a_failing_provider_raises_its_class(
    served: Served, stage: Stage, script: Any, raised: type[Exception]
) -> None:
    stage.always(script)

    with pytest.raises(raised):
        model_of(served).invoke("Hello")


@pytest.mark.case("leaving")
@both_apis
async def test_closing_a_stream_stops_the_model(
    served: Served, stage: Stage, over_responses: bool
) -> None:
    stage.starts_and_waits()
    stream = model_of(served, use_responses_api=over_responses).astream("Hello")
    async for chunk in stream:
        if chunk.text:
            break
    await stream.aclose()
    await asyncio.to_thread(stage.wait_until_left)
