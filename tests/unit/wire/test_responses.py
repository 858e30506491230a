"""Responses requests as the agent gets them, and the object their readers get."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response

from hermes.core.errors import InvalidRequest
from hermes.core.turn import Outcome, TurnParameters, TurnResult, Usage
from hermes.wire.response_echo import ResponseEcho, parse_echo
from hermes.wire.responses import (
    ResponseHead,
    ResponsesRequest,
    ended_response,
    output_items,
    parse_responses,
    response_object,
)


def label(name: str, _arguments: object) -> str:
    return name


HEAD = ResponseHead(id="resp_1", created_at=1700000000, model="hermes-agent")
NULLABLE = {
    "completed_at",
    "incomplete_details",
    "previous_response_id",
    "instructions",
    "error",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "safety_identifier",
    "prompt_cache_key",
}
KEYS = NULLABLE | {
    "id",
    "object",
    "created_at",
    "status",
    "model",
    "output",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "store",
    "background",
    "service_tier",
    "metadata",
}


def user(content: Any = "Hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def function_call(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def chat_call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def refusal(body: dict[str, Any]) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse_responses(body)
    return caught.value


def test_a_string_is_one_user_message():
    assert parse_responses({"input": "Hi"}) == ResponsesRequest(
        model=None,
        stream=False,
        user_message="Hi",
        history=[],
        instructions=None,
        added_instructions=None,
        previous_response_id=None,
        conversation=None,
        echo=ResponseEcho(),
        parameters=TurnParameters(persist=True),
        ignored=(),
        items=[{"type": "message", "role": "user", "content": "Hi"}],
    )


def test_the_last_item_is_the_question_and_the_others_are_history():
    asked = parse_responses(
        {
            "input": [
                user("1+1?"),
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "phase": "final_answer",
                    "content": [{"type": "output_text", "text": "2", "annotations": []}],
                },
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "?"}],
                },
            ]
        }
    )
    assert asked.history == [user("1+1?"), {"role": "assistant", "content": "2"}]
    assert asked.user_message == "?"


def test_calls_and_outputs_take_the_chat_shape():
    asked = parse_responses(
        {
            "input": [
                user(),
                {"role": "assistant", "content": "Wait."},
                function_call("a"),
                function_call("b"),
                {"type": "function_call_output", "call_id": "a", "output": "1"},
                {
                    "type": "function_call_output",
                    "call_id": "b",
                    "output": [{"type": "input_text", "text": "2"}],
                },
                {"type": "reasoning", "id": "rs_1", "summary": []},
                function_call("c"),
                {"type": "function_call_output", "call_id": "c", "output": "3"},
                user("and?"),
            ]
        }
    )
    assert [*asked.history[1:], *list(asked.parameters.tool_results)] == [
        {"role": "assistant", "content": "Wait.", "tool_calls": [chat_call("a"), chat_call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c")]},
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]


def test_the_output_of_one_turn_is_valid_input_of_the_next():
    transcript = [
        {"role": "assistant", "content": "Wait.", "tool_calls": [chat_call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "One."},
    ]
    output = output_items(
        TurnResult(text="One.", messages=transcript),
        response_id="resp_1",
        prior=0,
        preview=label,
    )
    asked = parse_responses({"input": [user(), *output, user("and?")]})
    assert asked.history == [user(), *transcript]


def test_system_and_developer_items_hold_for_this_turn():
    asked = parse_responses(
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": "Be kind."},
                user(),
                {"role": "system", "content": "Be right."},
            ],
        }
    )
    assert asked.instructions == "Be brief."
    assert asked.added_instructions == "Be kind.\n\nBe right."
    assert asked.system_prompt("Old.") == "Be brief.\n\nBe kind.\n\nBe right."
    assert asked.user_message == "Hi"


def test_instructions_are_inherited_only_where_there_are_none():
    assert parse_responses({"input": "x"}).system_prompt(None) is None
    assert parse_responses({"input": "x"}).system_prompt("Old.") == "Old."
    assert parse_responses({"input": "x", "instructions": "New."}).system_prompt("Old.") == "New."


@pytest.mark.parametrize("name", ["chat", {"id": "chat"}])
def test_a_conversation_may_be_named_in_two_ways(name: Any):
    assert parse_responses({"input": "x", "conversation": name}).conversation == "chat"


def test_a_request_continues_one_thing_only():
    error = refusal({"input": "x", "conversation": "c", "previous_response_id": "resp_1"})
    assert "Cannot use both" in error.message


def test_the_settings_a_server_acts_on_are_at_hand():
    asked = parse_responses(
        {
            "input": "x",
            "store": "false",
            "stream": "true",
            "truncation": "auto",
            "metadata": {"k": "v"},
            "previous_response_id": "resp_0",
            "model": "m",
        }
    )
    assert (asked.store, asked.stream, asked.truncation) == (False, True, "auto")
    assert (asked.metadata, asked.previous_response_id, asked.model) == ({"k": "v"}, "resp_0", "m")


@pytest.mark.parametrize("value", [None, "", [], 42, {}, True])
def test_without_input_there_is_no_request(value: Any):
    error = refusal({"input": value})
    assert error.param == "input"
    assert "input" in error.message


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ("hi", "input[0]"),
        ({"type": "item_reference"}, "input[0].id"),
        ({"type": "mcp_call"}, "input[0].id"),
        ({"content": "x"}, "input[0].role"),
        ({"role": "tool", "content": "x"}, "input[0].role"),
        ({"role": "user"}, "input[0].content"),
        ({"role": "user", "content": [{"type": "input_file"}]}, "input[0].content[0]"),
        ({"type": "function_call", "call_id": "c", "arguments": "{}"}, "input[0].name"),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, "input[0].call_id"),
        ({"type": "function_call", "name": "f", "call_id": "c"}, "input[0].arguments"),
        ({"type": "function_call_output", "output": "x"}, "input[0].call_id"),
        ({"type": "function_call_output", "call_id": "c"}, "input[0].output"),
    ],
)
def test_an_item_that_makes_no_sense_is_refused_by_its_place(item: Any, param: str):
    assert refusal({"input": [item, user()]}).param == param


@pytest.mark.parametrize(
    "last",
    [
        {"role": "assistant", "content": "x"},
        {"role": "system", "content": "x"},
    ],
)
def test_the_last_item_must_be_a_user_message_or_a_tool_output(last: dict[str, Any]):
    error = refusal({"input": [last]})
    assert error.param == "input"
    assert "user" in error.message


def assert_strict(response: dict[str, Any]) -> None:
    """Readable by the SDK in strict mode, no key missing, null only where it may be."""
    Response.model_validate(response, strict=True)
    assert set(response) - {"conversation"} == KEYS
    assert {key for key, value in response.items() if value is None} <= NULLABLE


@pytest.mark.parametrize(
    "status", ["in_progress", "completed", "incomplete", "failed", "cancelled"]
)
def test_the_smallest_response_has_every_key(status: str):
    assert_strict(response_object(HEAD, status=status, output=[]))


def test_a_response_repeats_what_its_request_said():
    body = {
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "s", "schema": {"type": "object"}}},
        "reasoning": {"effort": "low"},
        "temperature": 0.5,
        "metadata": {"k": "v"},
    }
    head = ResponseHead(
        id="resp_1",
        created_at=1,
        model="m",
        previous_response_id="resp_0",
        instructions="Be brief.",
        conversation="chat",
        echo=parse_echo(body),
    )
    response = response_object(head, status="completed", output=[], completed_at=2)
    assert_strict(response)
    assert response["conversation"] == {"id": "chat"}
    assert response["previous_response_id"] == "resp_0"
    assert response["tool_choice"] == {"type": "function", "name": "f"}
    assert response["reasoning"] == {"effort": "low", "summary": None}


@pytest.mark.parametrize(
    ("outcome", "status", "details", "error", "completed_at"),
    [
        (Outcome.COMPLETED, "completed", None, None, 9),
        (Outcome.TRUNCATED, "incomplete", {"reason": "max_output_tokens"}, None, None),
        (Outcome.INTERRUPTED, "incomplete", None, None, None),
        (Outcome.FAILED, "failed", None, {"code": "server_error", "message": "Broke."}, None),
    ],
)
def test_an_ended_response_tells_how_it_ended(
    outcome: Outcome, status: str, details: Any, error: Any, completed_at: Any
):
    result = TurnResult(text="x", outcome=outcome, error="Broke.", usage=Usage(total_tokens=3))
    output = output_items(result, response_id="resp_1", prior=0, preview=label)
    response = ended_response(HEAD, result, output=output, ended_at=9)
    assert_strict(response)
    assert response["status"] == status
    assert response["incomplete_details"] == details
    assert response["error"] == error
    assert response["completed_at"] == completed_at
    assert response["usage"]["total_tokens"] == 3
