"""What the Open Responses specification asks of a server, read as strictly as it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from hermes.testing.replies import Text, ToolUse
from hermes.testing.sse import parse_events
from tests.clients import scenes
from tests.clients.open_responses import (
    CompactedResponse,
    FunctionCall,
    OfItem,
    OfResponse,
    Response,
    strict_event,
    strict_response,
)
from tests.clients.serving import MODEL, Served
from tests.clients.stage import Stage

pytestmark = pytest.mark.suite("the Open Responses specification, read strictly")

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": scenes.WEATHER,
    "strict": True,
}
LAST = {"response.completed", "response.incomplete", "response.failed", "error"}


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.base_url, headers=served.headers, timeout=20) as http:
        yield http


def create(http: httpx.Client, **body: Any) -> Response:
    answer = http.post("/responses", json={"model": MODEL, **body})
    assert answer.status_code == 200, answer.text
    return strict_response(answer.json())


def stream(http: httpx.Client, **body: Any) -> list[Any]:
    """The events of a stream, read as the specification demands it."""
    answer = http.post("/responses", json={"model": MODEL, "stream": True, **body})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in answer.content
    *sent, end = parse_events(answer.content)
    assert end.data == "[DONE]"
    assert [event.event for event in sent] == [json.loads(event.data)["type"] for event in sent]
    return checked([json.loads(event.data) for event in sent])


def checked(sent: list[dict[str, Any]]) -> list[Any]:
    """The events of one turn, if each is right and all are in order."""
    events = [strict_event(data) for data in sent]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events[:2]] == ["response.created", "response.in_progress"]
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert isinstance(events[-1], OfResponse)
    assert events[-1].response.output == done
    return events


def text_of(response: Response) -> str:
    *_, message = response.output
    assert message.type == "message"
    return "".join(part.text for part in message.content if part.type == "output_text")


def says_hello(stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))


# --- create and stream ----------------------------------------------------------------------------


def test_a_plain_response_is_whole(http: httpx.Client, stage: Stage) -> None:
    says_hello(stage)
    response = create(http, input=[{"type": "message", "role": "user", "content": "Hello"}])

    assert response.status == "completed"
    assert response.completed_at is not None
    assert text_of(response) == scenes.ANSWER


def test_a_stream_is_whole_and_equals_what_is_stored(http: httpx.Client, stage: Stage) -> None:
    says_hello(stage)
    events = stream(http, input="Hello")

    assert [event.type for event in events if "delta" not in event.type] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    final = events[-1].response
    assert text_of(final) == scenes.ANSWER
    assert strict_response(http.get(f"/responses/{final.id}").json()).output == final.output


def test_an_event_is_never_cut_in_two_writes(http: httpx.Client, stage: Stage) -> None:
    stage.says(Text(pieces=["one ", "two ", "three"], interval=0.05))
    body = {"model": MODEL, "input": "Hello", "stream": True}
    with http.stream("POST", "/responses", json=body) as answer:
        reads = list(answer.iter_raw())

    assert all(read.endswith(b"\n\n") for read in reads)


def test_system_and_developer_items_reach_the_model(http: httpx.Client, stage: Stage) -> None:
    says_hello(stage)
    create(
        http,
        input=[
            {"type": "message", "role": "system", "content": "Speak like a pirate."},
            {"type": "message", "role": "developer", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "Hello"},
        ],
    )

    asked = str(stage.requests[-1].messages)
    assert "Speak like a pirate." in asked
    assert "Be brief." in asked


def test_the_phase_of_an_earlier_answer_is_accepted(http: httpx.Client, stage: Stage) -> None:
    says_hello(stage)
    said = [{"type": "output_text", "text": "Let me look.", "annotations": []}]
    response = create(
        http,
        input=[
            {"type": "message", "role": "user", "content": "Look."},
            {"type": "message", "role": "assistant", "phase": "commentary", "content": said},
            {"type": "message", "role": "user", "content": "And?"},
        ],
    )

    assert text_of(response) == scenes.ANSWER
    assert "Let me look." in str(stage.requests[-1].messages)


def test_a_conversation_of_several_turns_keeps_its_order(http: httpx.Client, stage: Stage) -> None:
    says_hello(stage)
    create(
        http,
        input=[
            {"type": "message", "role": "user", "content": "My name is Ada."},
            {"type": "message", "role": "assistant", "content": "Hello Ada."},
            {"type": "message", "role": "user", "content": "Who am I?"},
        ],
    )

    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My name is Ada.", "Hello Ada.", "Who am I?"]


def test_an_image_reaches_the_model(http: httpx.Client, stage: Stage) -> None:
    stage.says(Text("Red."))
    parts = [
        {"type": "input_text", "text": "Colour?"},
        {"type": "input_image", "image_url": scenes.PICTURE},
    ]
    response = create(http, input=[{"type": "message", "role": "user", "content": parts}])

    assert text_of(response) == "Red."
    assert stage.images() == [scenes.PICTURE]


# --- tools ----------------------------------------------------------------------------------------


def test_the_clients_function_is_called(http: httpx.Client, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    asking = create(http, input="Weather?", tools=[TOOL], tool_choice="required")
    (call,) = asking.output

    assert isinstance(call, FunctionCall)
    assert json.loads(call.arguments) == scenes.CITY
    assert [tool.model_dump() for tool in asking.tools] == [TOOL]
    assert asking.tool_choice == "required"
    result = {"type": "function_call_output", "call_id": call.call_id, "output": scenes.REPORT}
    answer = create(http, previous_response_id=asking.id, input=[result], tools=[TOOL])
    assert text_of(answer) == scenes.FORECAST
    assert scenes.got_the_report(stage)


def test_the_clients_function_is_called_in_a_stream(http: httpx.Client, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    events = stream(http, input="Weather?", tools=[TOOL])
    opened = next(event for event in events if isinstance(event, OfItem))
    written = [
        event.delta for event in events if event.type == "response.function_call_arguments.delta"
    ]

    assert isinstance(opened.item, FunctionCall)
    assert (opened.item.status, opened.item.arguments) == ("in_progress", "")
    assert json.loads("".join(written)) == scenes.CITY
    (call,) = events[-1].response.output
    assert (call.id, call.status) == (opened.item.id, "completed")


@pytest.mark.parametrize("form", ["default", "reasoning", "hidden"])
def test_the_servers_own_tool_is_shown_in_forms_strict_readers_bear(
    http: httpx.Client, stage: Stage, served: Served, form: str
) -> None:
    http.headers["X-Hermes-Tool-Form"] = form
    scenes.lists_its_files(stage, served)
    whole = create(http, input="Files?")
    scenes.lists_its_files(stage, served)
    streamed = stream(http, input="Files?")[-1].response

    assert text_of(whole) == text_of(streamed) == scenes.LISTED
    kinds = [[item.type for item in response.output] for response in (whole, streamed)]
    assert kinds[0] == kinds[1]


def test_a_result_for_no_call_is_refused(http: httpx.Client) -> None:
    stray = {"type": "function_call_output", "call_id": "call_none", "output": "?"}
    answer = http.post("/responses", json={"model": MODEL, "input": [stray]})

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "unknown_call_id"


# --- compaction -----------------------------------------------------------------------------------


def test_a_compaction_stands_for_the_history_it_replaces(http: httpx.Client, stage: Stage) -> None:
    stage.says(Text("The user likes blue."), Text("Blue."))
    history = [
        {"type": "message", "role": "user", "content": "My colour is blue."},
        {"type": "message", "role": "assistant", "content": "Noted."},
    ]
    answer = http.post("/responses/compact", json={"model": MODEL, "input": history})
    assert answer.status_code == 200, answer.text
    compacted = CompactedResponse.model_validate(answer.json())
    assert "compaction" in [item.type for item in compacted.output]

    question = {"type": "message", "role": "user", "content": "Which colour?"}
    response = create(http, input=[*answer.json()["output"], question])
    assert text_of(response) == "Blue."
    assert "blue" in str(stage.requests[-1].messages[:-1])


def test_a_compaction_without_a_model_is_refused(http: httpx.Client) -> None:
    answer = http.post("/responses/compact", json={"input": "Hello"})

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "model"


# --- WebSocket ------------------------------------------------------------------------------------


@pytest.fixture
def socket(served: Served) -> Iterator[ClientConnection]:
    url = served.base_url.replace("http", "ws", 1) + "/responses"
    with connect(url, additional_headers=served.headers, open_timeout=5) as socket:
        yield socket


def send(socket: ClientConnection, **body: Any) -> list[dict[str, Any]]:
    """Everything the socket answers to one request."""
    socket.send(json.dumps({"type": "response.create", "model": MODEL, **body}))
    answers = [json.loads(socket.recv(timeout=10))]
    while answers[-1]["type"] not in LAST:
        answers.append(json.loads(socket.recv(timeout=10)))
    return answers


def turn(socket: ClientConnection, **body: Any) -> Response:
    final = checked(send(socket, **body))[-1]
    assert final.type == "response.completed"
    return final.response


def refusal(socket: ClientConnection, **body: Any) -> dict[str, Any]:
    (answer,) = send(socket, **body)
    assert (answer["type"], answer["status"]) == ("error", 400)
    return answer["error"]


def test_a_socket_answers_like_a_stream(socket: ClientConnection, stage: Stage) -> None:
    says_hello(stage)

    assert text_of(turn(socket, input="Hello")) == scenes.ANSWER


def test_turns_follow_each_other_on_one_socket(socket: ClientConnection, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    first = turn(socket, input="My colour is blue.")
    second = turn(socket, input="Which?", previous_response_id=first.id)

    assert text_of(second) == "Blue."
    asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
    assert asked == ["My colour is blue.", "Noted.", "Which?"]


def test_a_socket_remembers_what_is_not_stored(
    socket: ClientConnection, http: httpx.Client, stage: Stage
) -> None:
    stage.says(Text("Noted."), Text("Blue."))
    first = turn(socket, input="My colour is blue.", store=False)

    assert http.get(f"/responses/{first.id}").status_code == 404
    second = turn(socket, input="Which?", previous_response_id=first.id, store=False)
    assert text_of(second) == "Blue."


def test_another_socket_does_not_know_what_is_not_stored(
    socket: ClientConnection, served: Served, stage: Stage
) -> None:
    stage.says(Text("Noted."))
    first = turn(socket, input="My colour is blue.", store=False)
    with connect(
        served.base_url.replace("http", "ws", 1) + "/responses",
        additional_headers=served.headers,
    ) as other:
        error = refusal(other, input="Which?", previous_response_id=first.id)

    assert error["code"] == "previous_response_not_found"


def test_a_socket_goes_on_after_a_refusal(socket: ClientConnection, stage: Stage) -> None:
    says_hello(stage)
    error = refusal(socket, input="Which?", previous_response_id="resp_none")

    assert error["code"] == "previous_response_not_found"
    assert text_of(turn(socket, input="Hello")) == scenes.ANSWER


def test_a_failed_continuation_forgets_what_was_not_stored(
    socket: ClientConnection, stage: Stage
) -> None:
    stage.says(Text("Noted."))
    first = turn(socket, input="My colour is blue.", store=False)
    stray = {"type": "function_call_output", "call_id": "call_none", "output": "?"}
    refusal(socket, input=[stray], previous_response_id=first.id, store=False)
    error = refusal(socket, input="Which?", previous_response_id=first.id, store=False)

    assert error["code"] == "previous_response_not_found"


def test_a_socket_calls_the_clients_function(socket: ClientConnection, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    asking = turn(socket, input="Weather?", tools=[TOOL], store=False)
    (call,) = asking.output
    result = {"type": "function_call_output", "call_id": call.call_id, "output": scenes.REPORT}
    answer = turn(socket, input=[result], tools=[TOOL], previous_response_id=asking.id, store=False)

    assert text_of(answer) == scenes.FORECAST


def test_closing_the_socket_stops_the_model(socket: ClientConnection, stage: Stage) -> None:
    stage.starts_and_waits()
    socket.send(json.dumps({"type": "response.create", "model": MODEL, "input": "Hello"}))
    while json.loads(socket.recv(timeout=10))["type"] != "response.output_text.delta":
        pass
    socket.close()
    stage.wait_until_left()


# --- what ends differently ------------------------------------------------------------------------


def test_an_answer_that_is_too_long_is_incomplete(http: httpx.Client, stage: Stage) -> None:
    stage.says([Text("Half an"), scenes.CUT_OFF])
    response = create(http, input="Hello", max_output_tokens=16)

    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


def test_a_failing_provider_fails_the_stream(http: httpx.Client, stage: Stage) -> None:
    stage.always(scenes.rejects_the_key)
    final = stream(http, input="Hello")[-1]

    assert final.type == "response.failed"
    assert final.response.error is not None


def test_several_calls_have_items_of_their_own(http: httpx.Client, stage: Stage) -> None:
    stage.says([ToolUse("get_weather", {"city": "Oslo"}), ToolUse("get_weather", {"city": "Rome"})])
    calls = stream(http, input="Weather?", tools=[TOOL])[-1].response.output

    assert [json.loads(call.arguments)["city"] for call in calls] == ["Oslo", "Rome"]
    assert len({call.id for call in calls} | {call.call_id for call in calls}) == 4
