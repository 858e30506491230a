"""OpenAI's Agents SDK, over both of OpenAI's APIs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    RunResultStreaming,
    function_tool,
)
from openai.types.responses import ResponseTextDeltaEvent
from pydantic import BaseModel

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("OpenAI Agents SDK", "openai-agents")

SILENT = RunConfig(tracing_disabled=True)


class Person(BaseModel):
    name: str
    age: int


@function_tool
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
    return OpenAIChatCompletionsModel(model=MODEL, openai_client=client)


@pytest.fixture
def over_responses(client: openai.AsyncOpenAI) -> Model:
    return OpenAIResponsesModel(model=MODEL, openai_client=client)


@pytest.fixture(params=["over_chat", "over_responses"])
def model(request: pytest.FixtureRequest) -> Model:
    return request.getfixturevalue(request.param)


def agent_of(model: Model, **options: Any) -> Agent[None]:
    return Agent(name="Test", instructions="Be brief.", model=model, **options)


async def streamed_text(running: RunResultStreaming) -> str:
    deltas = [
        event.data.delta
        async for event in running.stream_events()
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent)
    ]
    return "".join(deltas)


@pytest.mark.case("chat")
async def test_an_agent_answers_over_chat(over_chat: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    result = await Runner.run(agent_of(over_chat), "Hello", run_config=SILENT)

    assert result.final_output == scenes.ANSWER


@pytest.mark.case("stream")
async def test_an_agent_streams_over_chat(over_chat: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    running = Runner.run_streamed(agent_of(over_chat), "Hello", run_config=SILENT)

    assert await streamed_text(running) == scenes.ANSWER


@pytest.mark.case("responses")
async def test_an_agent_answers_over_responses(over_responses: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    result = await Runner.run(agent_of(over_responses), "Hello", run_config=SILENT)

    assert result.final_output == scenes.ANSWER
    assert result.last_response_id


@pytest.mark.case("responses stream")
async def test_an_agent_streams_over_responses(over_responses: Model, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    running = Runner.run_streamed(agent_of(over_responses), "Hello", run_config=SILENT)

    assert await streamed_text(running) == scenes.ANSWER
    assert running.final_output == scenes.ANSWER


@pytest.mark.case("chain")
async def test_a_run_continues_by_the_previous_response(
    over_responses: Model, stage: Stage
) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    agent = agent_of(over_responses)
    first = await Runner.run(agent, "My colour is blue.", run_config=SILENT)
    second = await Runner.run(
        agent, "Which?", previous_response_id=first.last_response_id, run_config=SILENT
    )

    assert second.final_output == "Blue."
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("server tool")
async def test_an_agent_leaves_the_servers_tool_alone(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    result = await Runner.run(agent_of(model, tools=[get_weather]), "Files?", run_config=SILENT)

    assert result.final_output == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
async def test_an_agent_that_streams_leaves_the_servers_tool_alone(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    running = Runner.run_streamed(agent_of(model), "Files?", run_config=SILENT)

    assert await streamed_text(running) == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
async def test_what_an_agent_sends_back_is_understood(
    model: Model, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    first = await Runner.run(agent_of(model), "Files?", run_config=SILENT)
    stage.says(Text("Certainly."))
    history: Any = [*first.to_input_list(), {"role": "user", "content": "Sure?"}]
    second = await Runner.run(agent_of(model), history, run_config=SILENT)

    assert second.final_output == "Certainly."
    assert scenes.LISTED in str(stage.requests[-1].messages)


@pytest.mark.case("client tool")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_an_agent_runs_its_own_tool(model: Model, stage: Stage, streamed: bool) -> None:
    scenes.asks_for_the_weather(stage)
    agent = agent_of(model, tools=[get_weather])
    if streamed:
        running = Runner.run_streamed(agent, "Weather?", run_config=SILENT)
        said = await streamed_text(running)
    else:
        said = (await Runner.run(agent, "Weather?", run_config=SILENT)).final_output

    assert said == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
async def test_an_agent_gives_structured_answers(model: Model, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    result = await Runner.run(agent_of(model, output_type=Person), "Who?", run_config=SILENT)

    assert result.final_output == Person(**scenes.PERSON)
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
async def test_an_agent_shows_the_model_a_picture(model: Model, stage: Stage) -> None:
    stage.says(Text("Red."))
    parts = [
        {"type": "input_text", "text": "Colour?"},
        {"type": "input_image", "image_url": scenes.PICTURE, "detail": "auto"},
    ]
    question: Any = [{"role": "user", "content": parts}]
    result = await Runner.run(agent_of(model), question, run_config=SILENT)

    assert result.final_output == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("errors")
async def test_a_wrong_key_is_an_authentication_error(served: Served) -> None:
    async with openai.AsyncOpenAI(
        base_url=served.base_url, api_key="wrong", max_retries=0
    ) as client:
        model = OpenAIResponsesModel(model=MODEL, openai_client=client)
        with pytest.raises(openai.AuthenticationError):
            await Runner.run(agent_of(model), "Hello", run_config=SILENT)


@pytest.mark.case("errors")
async def test_an_unknown_previous_response_is_refused(
    over_responses: Model,
) -> None:
    with pytest.raises((openai.NotFoundError, openai.BadRequestError)) as refused:
        await Runner.run(
            agent_of(over_responses), "Hi", previous_response_id="resp_none", run_config=SILENT
        )

    assert refused.value.code == "previous_response_not_found"


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "raised"),
    [
        (scenes.is_busy, openai.RateLimitError),
        (scenes.is_down, openai.InternalServerError),
        (scenes.rejects_the_key, openai.InternalServerError),
    ],
)
async def test_a_failing_provider_raises_its_class(
    model: Model, stage: Stage, script: Any, raised: type[Exception]
) -> None:
    stage.always(script)

    with pytest.raises(raised):
        await Runner.run(agent_of(model), "Hello", run_config=SILENT)


@pytest.mark.case("leaving")
async def test_cancelling_a_run_stops_the_model(model: Model, stage: Stage) -> None:
    stage.starts_and_waits()
    running = Runner.run_streamed(agent_of(model), "Hello", run_config=SILENT)
    async for event in running.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            break
    running.cancel()
    await asyncio.to_thread(stage.wait_until_left)
