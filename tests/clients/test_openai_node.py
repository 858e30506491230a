"""The OpenAI SDK for JavaScript."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.node_process import NodeClient
from tests.clients.serving import MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("OpenAI SDK (JavaScript)", "openai", is_node=True)


@pytest.fixture
def client(served: Served) -> NodeClient:
    return NodeClient("openai.mjs", served)


@pytest.mark.case("models")
def test_models_are_listed(client: NodeClient) -> None:
    assert MODEL in client.run("models")["ids"]


@pytest.mark.case("chat")
def test_chat_answers(client: NodeClient, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert client.run("chat") == {"text": scenes.ANSWER, "finish": "stop"}


@pytest.mark.case("stream")
@pytest.mark.parametrize("case", ["stream", "streamHelper"])
def test_chat_streams(client: NodeClient, stage: Stage, case: str) -> None:
    stage.says(Text(scenes.ANSWER))

    assert client.run(case) == {"text": scenes.ANSWER}


@pytest.mark.case("server tool")
@pytest.mark.parametrize("case", ["chat", "stream", "streamHelper"])
def test_chat_leaves_the_servers_tool_alone(
    client: NodeClient, stage: Stage, served: Served, case: str
) -> None:
    scenes.lists_its_files(stage, served)

    assert client.run(case)["text"] == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_tool_runner_leaves_the_servers_tool_alone(
    client: NodeClient, stage: Stage, served: Served, stream: bool
) -> None:
    scenes.lists_its_files(stage, served)

    assert client.run("clientTool", report="", stream=stream) == {"text": scenes.LISTED}
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
@pytest.mark.parametrize("case", ["responses", "responsesStream"])
def test_a_response_has_the_servers_tool_as_done(
    client: NodeClient, stage: Stage, served: Served, case: str
) -> None:
    scenes.lists_its_files(stage, served)
    answer = client.run(case)

    assert answer["text"] == scenes.LISTED
    assert "function_call" not in answer["kinds"]
    assert scenes.listed_once(stage)


@pytest.mark.case("client tool")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_tool_runner_runs_its_own_tool(client: NodeClient, stage: Stage, stream: bool) -> None:
    scenes.asks_for_the_weather(stage)

    answer = client.run("clientTool", report=scenes.REPORT, stream=stream)
    assert answer == {"text": scenes.FORECAST}
    assert scenes.got_the_report(stage)


@pytest.mark.case("client tool")
def test_a_response_calls_the_clients_tool_and_goes_on(client: NodeClient, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)

    answer = client.run("responsesTool", report=scenes.REPORT)
    assert answer == {"text": scenes.FORECAST, "arguments": scenes.CITY}
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
@pytest.mark.parametrize("case", ["structured", "responsesStructured"])
def test_answers_are_parsed(client: NodeClient, stage: Stage, case: str) -> None:
    stage.says(Text(scenes.PERSON_JSON))

    assert client.run(case) == {"parsed": scenes.PERSON}
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
def test_chat_shows_the_model_a_picture(client: NodeClient, stage: Stage) -> None:
    stage.says(Text("Red."))

    assert client.run("image", picture=scenes.PICTURE) == {"text": "Red."}
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("responses")
def test_a_response_is_created(client: NodeClient, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert client.run("responses") == {"text": scenes.ANSWER, "kinds": ["message"]}


@pytest.mark.case("responses stream")
def test_a_response_streams(client: NodeClient, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = client.run("responsesStream")

    assert (answer["text"], answer["last"]) == (scenes.ANSWER, "response.completed")


@pytest.mark.case("responses stream")
def test_the_response_helper_puts_the_answer_together(client: NodeClient, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert client.run("responsesHelper") == {"text": scenes.ANSWER}


@pytest.mark.case("chain")
def test_a_response_continues_another(client: NodeClient, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."))

    assert client.run("chain") == {"text": "Blue."}
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


@pytest.mark.case("stored")
def test_a_response_is_read_back_and_deleted(client: NodeClient, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert client.run("stored") == {"text": scenes.ANSWER, "gone": "NotFoundError"}


@pytest.mark.case("approval")
@pytest.mark.parametrize("case", ["approval", "responsesApproval"])
def test_a_yes_approves_a_command(
    client: NodeClient, stage: Stage, served: Served, case: str
) -> None:
    folder = scenes.wants_to_delete(stage, served)
    answer = client.run(case)

    assert scenes.DELETE in answer["question"]
    assert answer["text"] == scenes.GONE
    assert not folder.exists()
    assert len(stage.requests) == 2


@pytest.mark.case("resume")
def test_a_response_in_the_background_is_read_on_where_its_stream_broke_off(
    client: NodeClient, stage: Stage
) -> None:
    story = scenes.tells_slowly(stage)
    answer = client.run("resume")

    assert answer["numbers"] == list(range(len(answer["numbers"])))
    assert (answer["text"], answer["last"]) == (story, "response.completed")


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("case", "name", "status"),
    [
        ("wrongKey", "AuthenticationError", 401),
        ("noSuchModel", "NotFoundError", 404),
        ("badRequest", "BadRequestError", 400),
    ],
)
def test_a_refusal_raises_its_class(client: NodeClient, case: str, name: str, status: int) -> None:
    error = client.run(case)["error"]

    assert (error["name"], error["status"]) == (name, status)


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "name", "status"),
    [
        (scenes.is_busy, "RateLimitError", 429),
        (scenes.is_down, "InternalServerError", 503),
        (scenes.rejects_the_key, "InternalServerError", 502),
    ],
)
def test_a_failing_provider_raises_its_class(
    client: NodeClient, stage: Stage, script: Any, name: str, status: int
) -> None:
    stage.always(script)
    error = client.run("chat")["error"]

    assert (error["name"], error["status"]) == (name, status)


@pytest.mark.case("leaving")
def test_leaving_a_stream_stops_the_model(client: NodeClient, stage: Stage) -> None:
    stage.starts_and_waits()
    client.leave(stage)
