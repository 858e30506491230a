"""Vercel's AI SDK with three of its providers, each a row of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.node_process import NodeClient
from tests.clients.serving import Served
from tests.clients.stage import Stage
from tests.clients.table import Client

PROVIDERS = {
    Client("AI SDK, OpenAI", "@ai-sdk/openai", is_node=True): "responses",
    Client("AI SDK, OpenAI chat", "@ai-sdk/openai", is_node=True): "chat",
    Client("AI SDK, compatible", "@ai-sdk/openai-compatible", is_node=True): "compatible",
}
RESPONSES = next(iter(PROVIDERS))

each_provider = pytest.mark.parametrize("client", PROVIDERS, ids=PROVIDERS.values())
over_chat = pytest.mark.parametrize("client", list(PROVIDERS)[1:], ids=["chat", "compatible"])
over_responses = pytest.mark.parametrize("client", [RESPONSES], ids=["responses"])
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@dataclass(frozen=True, slots=True)
class Sdk:
    """The AI SDK with one of its providers."""

    node: NodeClient
    provider: str

    def run(self, case: str, **options: Any) -> Any:
        return self.node.run(case, provider=self.provider, **options)


@pytest.fixture
def sdk(client: Client, served: Served) -> Sdk:
    return Sdk(NodeClient("ai_sdk.mjs", served), PROVIDERS[client])


def answers(sdk: Sdk, stage: Stage, *, stream: bool) -> None:
    stage.says(Text(scenes.ANSWER))

    answer = sdk.run("chat", stream=stream)
    assert answer == {"text": scenes.ANSWER, "steps": 1, "finish": "stop"}


@pytest.mark.case("chat")
@over_chat
def test_it_answers_over_chat(sdk: Sdk, stage: Stage) -> None:
    answers(sdk, stage, stream=False)


@pytest.mark.case("stream")
@over_chat
def test_it_streams_over_chat(sdk: Sdk, stage: Stage) -> None:
    answers(sdk, stage, stream=True)


@pytest.mark.case("responses")
@over_responses
def test_it_answers_over_responses(sdk: Sdk, stage: Stage) -> None:
    answers(sdk, stage, stream=False)


@pytest.mark.case("responses stream")
@over_responses
def test_it_streams_over_responses(sdk: Sdk, stage: Stage) -> None:
    answers(sdk, stage, stream=True)


@pytest.mark.case("chain")
@over_responses
def test_it_continues_by_the_previous_response(sdk: Sdk, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."))

    assert sdk.run("chain") == {"text": "Blue."}
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("server tool")
@each_provider
@both_ways
def test_it_leaves_the_servers_tool_alone_and_sends_back_what_is_understood(
    sdk: Sdk, stage: Stage, served: Served, stream: bool
) -> None:
    scenes.lists_its_files(stage, served, then=[Text("Certainly.")])

    assert sdk.run("twoTurns", stream=stream) == {
        "first": {"text": scenes.LISTED, "steps": 1, "finish": "stop"},
        "second": {"text": "Certainly.", "steps": 1, "finish": "stop"},
    }
    assert len(stage.requests) == 3
    assert scenes.LISTED in str(stage.requests[-1].messages)


@pytest.mark.case("client tool")
@each_provider
@both_ways
def test_it_runs_its_own_tool(sdk: Sdk, stage: Stage, stream: bool) -> None:
    scenes.asks_for_the_weather(stage)

    answer = sdk.run("clientTool", report=scenes.REPORT, stream=stream)
    assert answer == {"text": scenes.FORECAST, "steps": 2, "finish": "stop"}
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
@each_provider
def test_it_gives_structured_answers(sdk: Sdk, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))

    assert sdk.run("structured") == {"parsed": scenes.PERSON}
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
@each_provider
def test_it_shows_the_model_a_picture(sdk: Sdk, stage: Stage) -> None:
    stage.says(Text("Red."))

    assert sdk.run("image", picture=scenes.PICTURE)["text"] == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("errors")
@each_provider
def test_a_wrong_key_is_a_call_error_401(sdk: Sdk) -> None:
    error = sdk.run("chat", key="wrong", stream=False)["error"]

    assert (error["name"], error["status"]) == ("AI_APICallError", 401)
    assert "Incorrect API key provided" in error["message"]


@pytest.mark.case("errors")
@each_provider
@pytest.mark.parametrize(
    ("script", "status"),
    [(scenes.is_busy, 429), (scenes.is_down, 503), (scenes.rejects_the_key, 502)],
)
def test_a_failing_provider_is_a_call_error(
    sdk: Sdk, stage: Stage, script: Any, status: int
) -> None:
    stage.always(script)

    assert sdk.run("chat", stream=False)["error"]["status"] == status


@pytest.mark.case("leaving")
@each_provider
def test_leaving_a_stream_stops_the_model(sdk: Sdk, stage: Stage) -> None:
    stage.starts_and_waits()
    sdk.node.leave(stage, provider=sdk.provider)
