"""What a client may ask of the demo model: its own tools, JSON, a last word, a length."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from hermes.core import messages
from hermes.core.errors import ProviderError
from hermes.core.messages import Message
from hermes.providers.demo import answers
from hermes.providers.demo.client import DemoClient
from hermes.providers.failures import FailureKind, classify
from hermes.tools.registry import Registry

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"enum": ["C", "F"]},
                "days": {"type": "integer"},
            },
            "required": ["city", "unit"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "get_time"}}
TOOLS = [*Registry.builtin().schemas(), WEATHER, CLOCK]


def choice_of(request: str | list[Message], **wishes: Any) -> dict[str, Any]:
    """The demo model's one choice, whole; the same answer streamed has to add up to it."""
    conversation = [messages.user(request)] if isinstance(request, str) else request
    create = DemoClient(pace=0).chat.completions.create
    body = create(messages=conversation, **wishes)
    ChatCompletion.model_validate(body, strict=True)
    choice: dict[str, Any] = body["choices"][0]
    chunks = list(create(messages=conversation, stream=True, **wishes))
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk, strict=True)
    streamed = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    text = "".join(piece["delta"].get("content") or "" for piece in streamed)
    assert text == (choice["message"]["content"] or "")
    assert streamed[-1]["finish_reason"] == choice["finish_reason"]
    return choice


def call_of(request: str | list[Message], **wishes: Any) -> tuple[str, dict[str, Any]]:
    choice = choice_of(request, **{"tools": TOOLS, **wishes})
    assert choice["finish_reason"] == "tool_calls"
    [call] = choice["message"]["tool_calls"]
    return call["function"]["name"], json.loads(call["function"]["arguments"])


# --- tools of the client --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [
        "use the tool get_weather",
        "call get_weather",
        "Please call the function `get_weather`.",
        "Could you try the get_weather tool, please?",
    ],
)
def test_a_tool_of_the_client_is_called_by_its_name(request_: str) -> None:
    assert call_of(request_) == ("get_weather", {"city": "example", "unit": "C"})


def test_arguments_may_be_given_as_json() -> None:
    request = 'call get_weather with {"city": "Oslo", "days": 2}'
    assert call_of(request) == ("get_weather", {"city": "Oslo", "unit": "C", "days": 2})


def test_a_name_nobody_offers_is_no_tool() -> None:
    for request in ("call get_rich", "call get_weather"):
        tools = TOOLS if request == "call get_rich" else []
        said = choice_of(request, tools=tools)["message"]["content"]
        assert said == answers.not_understood(request)


def test_the_tools_of_the_server_are_not_called_with_made_up_arguments() -> None:
    assert choice_of("call write_file", tools=TOOLS)["finish_reason"] == "stop"


def test_a_tool_the_client_insists_on_is_called_whatever_was_said() -> None:
    insisted = {"type": "function", "function": {"name": "get_time"}}
    assert call_of("hello", tool_choice=insisted) == ("get_time", {})


def test_any_tool_will_do_but_the_named_one_is_preferred() -> None:
    tools = [CLOCK, WEATHER]
    assert call_of("hello", tools=tools, tool_choice="required")[0] == "get_time"
    assert call_of("call get_weather", tools=tools, tool_choice="required")[0] == "get_weather"


def test_no_tool_is_called_when_none_may_be() -> None:
    said = choice_of("call get_weather", tools=TOOLS, tool_choice="none")
    assert said["finish_reason"] == "stop"


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("request_", ["call get_weather", "is it raining?"])
def test_the_result_of_a_clients_tool_is_told_in_words(request_: str, choice: str) -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "get_weather", "arguments": "{}"},
    }
    result = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "Rain."}]}
    conversation = [messages.user(request_), messages.assistant(None, [call]), result]
    said = choice_of(conversation, tools=TOOLS, tool_choice=choice)
    assert said["message"]["content"] == "I used `get_weather`. It answered: Rain."


def test_two_tools_of_the_client_are_used_one_after_the_other() -> None:
    request = "call get_weather and then call get_time"
    name, _ = call_of(request)
    made = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
    conversation = [
        messages.user(request),
        messages.assistant(None, [made]),
        messages.tool("c", name, "Rain."),
    ]
    assert (name, call_of(conversation)[0]) == ("get_weather", "get_time")


# --- the form of the answer -----------------------------------------------------------------------


def test_a_json_object_has_the_answer_in_it() -> None:
    said = choice_of("count to 3", response_format={"type": "json_object"})
    assert json.loads(said["message"]["content"]) == {"answer": "1, 2, 3."}


def test_an_answer_by_a_schema_has_what_the_schema_requires() -> None:
    schema = WEATHER["function"]["parameters"]  # type: ignore[index]
    wanted = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}
    said = choice_of("what is the weather?", response_format=wanted)
    assert json.loads(said["message"]["content"]) == {"city": "example", "unit": "C"}


def test_tools_come_before_the_form_of_the_answer() -> None:
    assert call_of("call get_time", response_format={"type": "json_object"})[0] == "get_time"


def test_an_answer_ends_before_the_first_stop_sequence() -> None:
    said = choice_of("count to 9", stop=[" 7", " 4"])
    assert said["message"]["content"] == "1, 2, 3,"
    assert said["finish_reason"] == "stop"


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_an_answer_over_its_limit_is_cut_and_says_so(limit: str) -> None:
    said = choice_of("count to 9", **{limit: 2})
    assert (said["message"]["content"], said["finish_reason"]) == ("1, 2, 3,", "length")
    assert choice_of("count to 3", **{limit: 2})["finish_reason"] == "stop"


def test_a_tool_call_over_its_limit_is_not_made() -> None:
    said = choice_of("call get_weather", tools=TOOLS, max_tokens=1)
    assert "tool_calls" not in said["message"]
    assert said["finish_reason"] == "length"


def test_what_a_refused_image_means_is_known() -> None:
    failure = classify(ProviderError(answers.NO_IMAGES, code="images_unsupported"))
    assert failure.kind is FailureKind.IMAGES_UNSUPPORTED
