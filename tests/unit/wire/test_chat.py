"""Chat requests as the agent gets them, and finished turns as chat clients get them."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from hermes.core.errors import InvalidRequest
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.chat import (
    ChatHead,
    ChatRequest,
    agent_incomplete,
    completion,
    finish_reason,
    incomplete_details,
    incomplete_headers,
    parse_chat,
)
from hermes.wire.own_renderings import render

HEAD = ChatHead("chatcmpl-1", "hermes-agent", 1700000000)
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def user(content: Any = "Hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def parse(*messages: Any, **fields: Any) -> ChatRequest:
    return parse_chat({"messages": list(messages), **fields})


def refusal(body: dict[str, Any]) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse_chat(body)
    return caught.value


def test_one_user_message_is_the_whole_request():
    assert parse(user()) == ChatRequest(
        model=None,
        stream=False,
        include_usage=False,
        system_prompt=None,
        user_message="Hi",
        tool_results=[],
        history=[],
        first_user_text="Hi",
        messages=[user()],
    )


def test_earlier_messages_become_history_with_role_content_and_name():
    asked = parse(
        {"role": "user", "content": "1+1?", "name": "ada"},
        {"role": "assistant", "content": "2", "annotations": []},
        user("and 1 more?"),
    )
    assert asked.history == [
        {**user("1+1?"), "name": "ada"},
        {"role": "assistant", "content": "2"},
    ]
    assert asked.user_message == "and 1 more?"
    assert asked.first_user_text == "1+1?"


def test_a_single_system_message_is_passed_verbatim():
    assert parse({"role": "system", "content": " Be brief. \n"}, user()).system_prompt == (
        " Be brief. \n"
    )


def test_several_system_and_developer_messages_are_joined_wherever_they_stand():
    asked = parse(
        {"role": "system", "content": "Be brief."},
        user("a"),
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        user("b"),
        {"role": "system", "content": "Be right."},
    )
    assert asked.system_prompt == "Be brief.\n\nBe kind.\n\nBe right."
    assert (asked.history, asked.user_message) == ([user("a")], "b")


def test_tool_messages_keep_what_links_them():
    asked = parse(
        user("run it"),
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done", "name": "f"},
        user("and?"),
    )
    assert [*asked.history[1:], *asked.tool_results] == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]


def test_a_tool_call_keeps_the_keys_its_provider_needs_back():
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"sig": "x"}}
    asked = parse(user(), {"role": "assistant", "tool_calls": [call]}, user())
    assert asked.history[1]["tool_calls"] == [{**call, "type": "function"}]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"role": "assistant", "content": None, "refusal": "No."}, "No."),
        ({"role": "assistant", "content": None}, ""),
        ({"role": "assistant", "tool_calls": []}, ""),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, "No."),
    ],
)
def test_an_assistant_message_without_content_is_what_it_says_otherwise(message: Any, content: str):
    assert parse(user(), message, user()).history[1] == {"role": "assistant", "content": content}


def test_images_reach_the_agent():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    assert parse(user([{"type": "text", "text": "?"}, image])).user_message == [
        {"type": "text", "text": "?"},
        image,
    ]


def test_streaming_and_usage_are_read_in_any_spelling():
    asked = parse(user(), stream="true", stream_options={"include_usage": True}, model="m")
    assert (asked.stream, asked.include_usage, asked.model) == (True, True, "m")
    assert parse(user(), stream="false").stream is False


def test_fields_we_do_not_know_are_ignored_and_named():
    asked = parse(user(), seed=1, acme={"x": 1}, n=1, logprobs=False)
    assert asked.parameters.ignored == ("acme",)


@pytest.mark.parametrize("messages", [None, [], "hi", {}, 5, [{"role": "system", "content": "x"}]])
def test_without_messages_there_is_no_request(messages: Any):
    error = refusal({"messages": messages})
    assert error.param == "messages"
    assert "messages" in error.message


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("hi", "messages[1]"),
        ({"content": "x"}, "messages[1].role"),
        ({"role": "robot", "content": "x"}, "messages[1].role"),
        ({"role": ["user"], "content": "x"}, "messages[1].role"),
        ({"role": "user"}, "messages[1].content"),
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": "system", "content": None}, "messages[1].content"),
        ({"role": "tool", "content": "x"}, "messages[1].tool_call_id"),
        ({"role": "assistant", "tool_calls": "x"}, "messages[1].tool_calls"),
        ({"role": "assistant", "tool_calls": ["x"]}, "messages[1].tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{}]}, "messages[1].tool_calls[0].function"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
            "messages[1].tool_calls[0].id",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": ""}}]},
            "messages[1].tool_calls[0].function.name",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
            "messages[1].tool_calls[0].function.arguments",
        ),
        ({"role": "user", "content": [{"type": "file"}]}, "messages[1].content[0].file"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused_by_its_place(message: Any, param: str):
    assert refusal({"messages": [user(), message, user()]}).param == param


def test_the_assistant_cannot_have_the_last_word():
    error = refusal({"messages": [user(), {"role": "assistant", "content": "x"}]})
    assert error.param == "messages"
    assert "it is from 'assistant'" in error.message


@pytest.mark.parametrize(
    ("fields", "param"),
    [({"n": 2}, "n"), ({"logprobs": True}, "logprobs"), ({"stream": 1}, "stream")],
)
def test_what_we_cannot_do_is_refused_and_not_ignored(fields: dict[str, Any], param: str):
    assert refusal({"messages": [user()], **fields}).param == param


def test_a_nested_option_is_refused_by_its_full_name():
    error = refusal({"messages": [user()], "stream_options": {"include_usage": "maybe"}})
    assert error.param == "stream_options.include_usage"


def test_a_completed_turn_is_a_plain_completion():
    usage = Usage(
        input_tokens=3, output_tokens=2, total_tokens=5, cached_tokens=1, reasoning_tokens=1
    )
    answer = completion(HEAD, TurnResult(text="Hello", usage=usage))
    assert answer == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "hermes-agent",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "total_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    }
    ChatCompletion.model_validate(answer, strict=True)
    assert incomplete_headers(TurnResult(text="Hello")) == {}


@pytest.mark.parametrize(("said", "content"), [("", None), ("Let me look.", "Let me look.")])
def test_a_turn_that_waits_for_the_client_shows_its_calls(said: str, content: str | None):
    answer = completion(HEAD, TurnResult(text=said, outcome=Outcome.WAITING, pending=[CALL]))
    read = ChatCompletion.model_validate(answer, strict=True)
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert answer["choices"][0]["message"] == {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "tool_calls": [CALL],
    }
    assert read.choices[0].message.tool_calls is not None
    assert "hermes" not in answer


def test_a_truncated_turn_keeps_its_text_and_says_so():
    result = TurnResult(text="Half", outcome=Outcome.TRUNCATED, error="Response truncated")
    answer = completion(HEAD, result)
    ChatCompletion.model_validate(answer, strict=True)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["choices"][0]["message"]["content"] == "Half"
    assert answer["hermes"] == {
        "completed": False,
        "partial": True,
        "failed": False,
        "interrupted": False,
        "error_code": "output_truncated",
        "error": "Response truncated",
    }
    assert incomplete_headers(result) == {
        "X-Hermes-Completed": "false",
        "X-Hermes-Partial": "true",
    }


@pytest.mark.parametrize(
    ("outcome", "text", "reason"),
    [
        (Outcome.COMPLETED, "x", "stop"),
        (Outcome.COMPLETED, "", "stop"),
        (Outcome.TRUNCATED, "x", "length"),
        (Outcome.TRUNCATED, "", "length"),
        (Outcome.INTERRUPTED, "x", "length"),
        (Outcome.INTERRUPTED, "", "error"),
        (Outcome.FAILED, "x", "error"),
        (Outcome.FAILED, "", "error"),
    ],
)
def test_the_finish_reason_tells_how_the_turn_ended(outcome: Outcome, text: str, reason: str):
    assert finish_reason(TurnResult(text=text, outcome=outcome)) == reason


def test_text_that_was_only_streamed_counts_as_text():
    result = TurnResult(outcome=Outcome.INTERRUPTED)
    assert finish_reason(result, has_text=True) == "length"


def test_a_turn_without_an_answer_is_a_bad_gateway():
    error = agent_incomplete(TurnResult(outcome=Outcome.FAILED, error="remained truncated"))
    assert (error.status, error.code, error.message) == (
        502,
        "agent_incomplete",
        "remained truncated",
    )
    assert error.headers == {"X-Hermes-Completed": "false"}
    details = error.extra["hermes"]
    assert (details["partial"], details["failed"], details["completed"]) == (True, True, False)
    assert "partial_text" not in details


def test_the_text_of_a_failed_turn_is_kept_in_the_details():
    error = agent_incomplete(TurnResult(text="Half", outcome=Outcome.FAILED))
    assert error.extra["hermes"]["partial_text"] == "Half"
    assert error.message == "The agent ended without an answer; send the request again."


def test_an_interrupted_turn_is_told_from_a_failed_one():
    result = TurnResult(outcome=Outcome.INTERRUPTED)
    details = incomplete_details(result)
    assert (details["interrupted"], details["failed"]) == (True, False)
    assert details["error_code"] == "interrupted"
    assert "interrupted" in agent_incomplete(result).message


@pytest.mark.parametrize("wrap", [str, lambda text: [{"type": "text", "text": text}]])
def test_our_own_lines_are_taken_out_of_what_the_assistant_said(wrap: Any):
    said = {"role": "assistant", "content": wrap(render("terminal: ls") + "Hello")}
    asked = parse(user(), said, user())
    assert asked.history[1] == {"role": "assistant", "content": "Hello"}


def test_thinking_that_was_kept_is_reasoning_content_where_it_is_shown():
    thoughts = [{"role": "assistant", "content": "a", "reasoning": text} for text in ("One", "Two")]
    result = TurnResult(text="a", messages=thoughts)
    shown = completion(HEAD, result, shows_reasoning=True)["choices"][0]["message"]
    assert shown["reasoning_content"] == "One\n\nTwo"
    assert "reasoning_content" not in completion(HEAD, result)["choices"][0]["message"]
