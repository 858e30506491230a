"""Pydantic AI, over both of OpenAI's APIs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelHTTPError, NativeOutput
from pydantic_ai.models import Model
from pydantic_ai.models.openai import (
    OpenAIChatModel,
    OpenAIResponsesModel,
    OpenAIResponsesModelSettings,
)
from pydantic_ai.providers.openai import OpenAIProvider

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("Pydantic AI", "pydantic-ai-slim")


class Person(BaseModel):
    name: str
    age: int


def get_weather(city: str) -> str:
    """The weather of a city."""
    assert city == scenes.CITY["city"]
    return scenes.REPORT


@pytest.fixture
async def client(served: Served) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=served.base_url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
def over_chat(client: openai.AsyncOpenAI) -> Model:
    return OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))


@pytest.fixture
def over_responses(client: openai.AsyncOpenAI) -> Model:
    return OpenAIResponsesModel(MODEL, provider=OpenAIProvider(openai_client=client))


@pytest.fixture(params=["over_chat", "over_responses"])
def model(request: pytest.FixtureRequest) -> Model:
    return request.getfixturevalue(request.param)


async def streamed_text(agent: Agent, question: str) -> str:
    async with agent.run_stream(question) as running:
        return "".join([piece async for piece in running.stream_text(delta=True)])


@pytest.mark.case("chat")
async def test_an_agent_answers_over_chat(over_chat: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert (await Agent(over_chat).run("Hello")).output == scenes.ANSWER


@pytest.mark.case("stream")
async def test_an_agent_streams_over_chat(over_chat: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert await streamed_text(Agent(over_chat), "Hello") == scenes.ANSWER


@pytest.mark.case("responses")
async def test_an_agent_answers_over_responses(over_responses: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert (await Agent(over_responses).run("Hello")).output == scenes.ANSWER


@pytest.mark.case("responses stream")
async def test_an_agent_streams_over_responses(over_responses: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert await streamed_text(Agent(over_responses), "Hello") == scenes.ANSWER


@pytest.mark.case("chain")
async def test_a_run_continues_by_the_previous_response(
    over_responses: Model, stage: Stage
) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    settings = OpenAIResponsesModelSettings(openai_previous_response_id="auto")
    agent = Agent(over_responses, model_settings=settings)
    first = await agent.run("My colour is blue.")
    second = await agent.run("Which?", message_history=first.all_messages())

    assert second.output == "Blue."
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("server tool")
async def test_an_agent_leaves_the_servers_tool_alone(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    result = await Agent(model, tools=[get_weather]).run("Files?")

    assert result.output == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
async def test_an_agent_that_streams_leaves_the_servers_tool_alone(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)

    assert await streamed_text(Agent(model), "Files?") == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
async def test_what_an_agent_sends_back_is_understood(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    first = await Agent(model).run("Files?")
    stage.says(Text("Certainly."))
    second = await Agent(model).run("Sure?", message_history=first.all_messages())

    assert second.output == "Certainly."
    assert scenes.LISTED in str(stage.requests[-1].messages)


@pytest.mark.case("client tool")
async def test_an_agent_runs_its_own_tool(model: Model, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    result = await Agent(model, tools=[get_weather]).run("Weather?")

    assert result.output == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("client tool")
async def test_an_agent_that_streams_runs_its_own_tool(model: Model, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)

    assert await streamed_text(Agent(model, tools=[get_weather]), "Weather?") == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
async def test_an_agent_gives_structured_answers(model: Model, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    result = await Agent(model, output_type=NativeOutput(Person)).run("Who?")

    assert result.output == Person(**scenes.PERSON)
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
async def test_an_agent_shows_the_model_a_picture(model: Model, stage: Stage) -> None:
    stage.says(Text("Red."))
    picture = BinaryContent(data=scenes.png(), media_type="image/png")
    result = await Agent(model).run(["Colour?", picture])

    assert result.output == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("errors")
async def test_a_wrong_key_is_an_http_error_401(served: Served) -> None:
    provider = OpenAIProvider(base_url=served.base_url, api_key="wrong")
    with pytest.raises(ModelHTTPError) as refused:
        await Agent(OpenAIChatModel(MODEL, provider=provider)).run("Hello")

    assert refused.value.status_code == 401


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "status"),
    [(scenes.is_busy, 429), (scenes.is_down, 503), (scenes.rejects_the_key, 502)],
)
async def test_a_failing_provider_is_an_http_error(
    model: Model, stage: Stage, script: Any, status: int
) -> None:
    stage.always(script)
    with pytest.raises(ModelHTTPError) as refused:
        await Agent(model).run("Hello")

    assert refused.value.status_code == status


@pytest.mark.case("leaving")
async def test_leaving_a_stream_stops_the_model(model: Model, stage: Stage) -> None:
    stage.starts_and_waits()
    begun = asyncio.Event()

    async def read() -> None:
        async with Agent(model).run_stream("Hello") as running:
            async for _ in running.stream_text(delta=True, debounce_by=None):
                begun.set()

    reading = asyncio.ensure_future(read())
    await asyncio.wait_for(begun.wait(), 5)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await asyncio.to_thread(stage.wait_until_left)
