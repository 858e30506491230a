"""How a conversation is worded for each wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.core import messages
from hermes.core.messages import Message
from hermes.core.turn import AnswerFormat, Sampling
from hermes.providers.anthropic import DEFAULT_MAX_TOKENS
from hermes.providers.base import Dialect, Prompt, dialect_for
from hermes.providers.responses import SMALLEST_LIMIT
from tests.unit.providers.dialogues import (
    ANTHROPIC_REPLAY,
    REASONING_ITEM,
    RESPONSES_REPLAY,
    THINKING_BLOCK,
)

CHAT = dialect_for("chat_completions")
RESPONSES = dialect_for("codex_responses")
ANTHROPIC = dialect_for("anthropic_messages")

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL = {
    "type": "function",
    "function": {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS},
}
CALL = {
    "id": "call.1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "a"}'},
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
REMOTE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
MARK = {"type": "ephemeral"}

HISTORY: list[Message] = [
    messages.user([{"type": "text", "text": "Look"}, PICTURE, REMOTE]),
    messages.assistant("Reading.", [CALL]),
    messages.tool("call.1", "read_file", "hello"),
    messages.user("And?"),
]


def prompt(history: list[Message], **more: Any) -> Prompt:
    chosen = {name: more.pop(name) for name in ("max_tokens", "temperature") if name in more}
    more.setdefault("sampling", Sampling(**chosen))
    return Prompt(**{"model": "m", "system": "Be kind.", "messages": history, "tools": [], **more})


def test_chat_sends_the_history_without_our_own_keys() -> None:
    replayed = {**messages.assistant("Hi"), "replay": ANTHROPIC_REPLAY}
    request = CHAT.request(prompt([*HISTORY, replayed]))
    assert request["messages"] == [
        {"role": "system", "content": "Be kind."},
        HISTORY[0],
        HISTORY[1],
        {"role": "tool", "tool_call_id": "call.1", "content": "hello"},
        HISTORY[3],
        {"role": "assistant", "content": "Hi"},
    ]
    assert "replay" in replayed


def test_chat_leaves_out_what_was_not_asked_for() -> None:
    assert set(CHAT.request(prompt([], system=None))) == {"model", "messages"}


def test_chat_names_the_limit_as_the_model_wants_it() -> None:
    more = {"max_tokens": 9, "temperature": 0.0, "reasoning_effort": "low", "tools": [TOOL]}
    request = CHAT.request(prompt([], **dict(more)))
    assert (request["max_tokens"], request["temperature"]) == (9, 0.0)
    assert (request["reasoning_effort"], request["tools"]) == ("low", [TOOL])
    for model in ("gpt-5-mini", "openai/o3", "o4-mini"):
        assert CHAT.request(prompt([], max_tokens=9, model=model))["max_completion_tokens"] == 9


def test_chat_gives_reasoning_details_back() -> None:
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    said = {
        **messages.assistant("Hi"),
        "replay": {"api_mode": "chat_completions", "items": details},
    }
    assert CHAT.request(prompt([said]))["messages"][1]["reasoning_details"] == details


def test_responses_words_the_history_as_items() -> None:
    request = RESPONSES.request(prompt(HISTORY, tools=[TOOL]))
    picture, remote = PICTURE["image_url"], REMOTE["image_url"]
    assert isinstance(picture, dict) and isinstance(remote, dict)
    assert request["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look"},
                {"type": "input_image", "image_url": picture["url"], "detail": "auto"},
                {"type": "input_image", "image_url": remote["url"], "detail": "auto"},
            ],
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Reading."}],
        },
        {
            "type": "function_call",
            "call_id": "call.1",
            "name": "read_file",
            "arguments": '{"path": "a"}',
        },
        {"type": "function_call_output", "call_id": "call.1", "output": "hello"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]},
    ]
    flat = {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS}
    assert request["tools"] == [{"type": "function", "strict": False, **flat}]
    assert (request["instructions"], request["store"]) == ("Be kind.", False)


def test_responses_ask_for_the_thinking_only_where_there_is_some() -> None:
    plain = RESPONSES.request(prompt([], model="gpt-4.1"))
    assert "include" not in plain and "reasoning" not in plain
    thinking = RESPONSES.request(prompt([], model="gpt-4.1", reasoning_effort="high"))
    assert thinking["reasoning"] == {"effort": "high"}
    assert thinking["include"] == ["reasoning.encrypted_content"]
    assert "include" in RESPONSES.request(prompt([], model="gpt-5.1-codex"))


def test_responses_give_the_thinking_back_before_what_followed_from_it() -> None:
    said = {**messages.assistant(None, [CALL]), "replay": RESPONSES_REPLAY}
    items = RESPONSES.request(prompt([said]))["input"]
    assert items[0] == {key: value for key, value in REASONING_ITEM.items() if key != "id"}
    assert items[1]["type"] == "function_call"


def test_thinking_that_led_to_nothing_is_not_given_back() -> None:
    said = {**messages.assistant(None), "replay": RESPONSES_REPLAY}
    assert RESPONSES.request(prompt([said]))["input"] == []


def test_anthropic_words_the_history_as_turns_of_blocks() -> None:
    request = ANTHROPIC.request(prompt(HISTORY, tools=[TOOL], temperature=0.5))
    assert request == {
        "model": "m",
        "max_tokens": DEFAULT_MAX_TOKENS,
        "system": [{"type": "text", "text": "Be kind.", "cache_control": MARK}],
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": PARAMETERS}],
        "temperature": 0.5,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                    },
                    {
                        "type": "image",
                        "source": {"type": "url", "url": "https://example.com/a.png"},
                        "cache_control": MARK,
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Reading."},
                    {
                        "type": "tool_use",
                        "id": "call_1",
                        "name": "read_file",
                        "input": {"path": "a"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_1",
                        "content": [{"type": "text", "text": "hello"}],
                    },
                    {"type": "text", "text": "And?", "cache_control": MARK},
                ],
            },
        ],
    }


def test_anthropic_gets_turns_that_alternate_and_begin_with_the_user() -> None:
    history = [
        messages.assistant("Hi"),
        {"role": "system", "content": "Be brief."},
        messages.user(""),
        messages.user("  "),
    ]
    request = ANTHROPIC.request(prompt(history))
    assert [turn["role"] for turn in request["messages"]] == ["user", "assistant", "user"]
    assert all(turn["content"] for turn in request["messages"])
    assert [block["text"] for block in request["system"]] == ["Be kind.", "Be brief."]


def test_anthropic_arguments_that_broke_off_are_sent_as_none() -> None:
    for broken in ('{"path": "a', "[]", "", "\ud800"):
        call = {**CALL, "function": {"name": "read_file", "arguments": broken}}
        turns = ANTHROPIC.request(prompt([messages.assistant(None, [call])]))["messages"]
        assert turns[1]["content"][0]["input"] == {}


def test_anthropic_thinking_fits_into_the_answer() -> None:
    free = ANTHROPIC.request(prompt([], reasoning_effort="low", temperature=1.0))
    assert free["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assert free["max_tokens"] == DEFAULT_MAX_TOKENS + 4096
    assert "temperature" not in free
    tight = ANTHROPIC.request(prompt([], reasoning_effort="high", max_tokens=4000))
    assert (tight["max_tokens"], tight["thinking"]["budget_tokens"]) == (4000, 2976)
    assert "thinking" not in ANTHROPIC.request(prompt([], reasoning_effort="low", max_tokens=2000))
    assert "thinking" not in ANTHROPIC.request(prompt([], reasoning_effort="none"))


def test_anthropic_thinking_is_replayed_while_thinking_and_dropped_otherwise() -> None:
    said = {**messages.assistant(None, [CALL]), "replay": ANTHROPIC_REPLAY}
    history = [messages.user("Go"), said, messages.tool("call.1", "read_file", "x")]
    thinking = ANTHROPIC.request(prompt(history, reasoning_effort="low"))
    assert thinking["messages"][1]["content"][0] == THINKING_BLOCK
    silent = ANTHROPIC.request(prompt(history))
    assert [block["type"] for block in silent["messages"][1]["content"]] == ["tool_use"]


def test_anthropic_does_not_start_to_think_amid_a_round_of_tools() -> None:
    history = [
        messages.user("Go"),
        messages.assistant(None, [CALL]),
        messages.tool("call.1", "read_file", "x"),
    ]
    assert "thinking" not in ANTHROPIC.request(prompt(history, reasoning_effort="low"))


# --- tools that are called by choice --------------------------------------------------------------

ONE = {"type": "function", "function": {"name": "read_file"}}


@pytest.mark.parametrize(
    ("choice", "parallel", "chat", "responses", "anthropic"),
    [
        ("auto", None, None, None, None),
        ("none", None, "none", "none", {"type": "none"}),
        ("none", False, "none", "none", {"type": "none"}),
        ("required", None, "required", "required", {"type": "any"}),
        (
            "required",
            False,
            "required",
            "required",
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ("auto", False, None, None, {"type": "auto", "disable_parallel_tool_use": True}),
        ("auto", True, None, None, None),
        (
            ONE,
            None,
            ONE,
            {"type": "function", "name": "read_file"},
            {"type": "tool", "name": "read_file"},
        ),
    ],
)
def test_a_choice_of_tools_is_worded_for_each_wire(
    choice: Any, parallel: bool | None, chat: Any, responses: Any, anthropic: Any
) -> None:
    asked = prompt([], tools=[TOOL], tool_choice=choice, parallel_tool_calls=parallel)
    assert ANTHROPIC.request(asked).get("tool_choice") == anthropic
    for dialect, expected in ((CHAT, chat), (RESPONSES, responses)):
        request = dialect.request(asked)
        assert request.get("tool_choice") == expected
        assert request.get("parallel_tool_calls") is parallel


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC])
def test_without_tools_nothing_is_said_about_choosing_one(dialect: Dialect) -> None:
    request = dialect.request(prompt([], tool_choice="required", parallel_tool_calls=False))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(request)


def test_anthropic_does_not_think_when_it_has_to_call_a_tool() -> None:
    forced = ANTHROPIC.request(
        prompt([], tools=[TOOL], tool_choice="required", reasoning_effort="low")
    )
    assert "thinking" not in forced
    free = ANTHROPIC.request(prompt([], tools=[TOOL], tool_choice="none", reasoning_effort="low"))
    assert "thinking" in free


def test_anthropic_is_told_of_tools_it_called_before_even_if_it_has_none_now() -> None:
    request = ANTHROPIC.request(prompt(HISTORY))
    assert request["tools"] == [
        {
            "name": "read_file",
            "description": "",
            "input_schema": {"type": "object", "properties": {}},
        }
    ]
    assert request["tool_choice"] == {"type": "none"}


def test_anthropic_gets_an_object_schema_whatever_the_client_left_out() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"required": []}}}
    [worded] = ANTHROPIC.request(prompt([], tools=[tool]))["tools"]
    assert worded["input_schema"] == {"type": "object", "required": []}


# --- the form of the answer -----------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PLACE = AnswerFormat(name="place", schema=SCHEMA, strict=True, description="Where it is.")
NAMED = {"name": "place", "schema": SCHEMA, "strict": True, "description": "Where it is."}


def test_a_schema_for_the_answer_is_worded_for_each_wire() -> None:
    asked = prompt([], answer_format=PLACE)
    assert CHAT.request(asked)["response_format"] == {"type": "json_schema", "json_schema": NAMED}
    assert RESPONSES.request(asked)["text"] == {"format": {"type": "json_schema", **NAMED}}
    instruction = ANTHROPIC.request(asked)["system"][-1]["text"]
    assert json.loads(instruction.rpartition("\n")[2]) == SCHEMA
    assert "place (Where it is.)" in instruction


def test_any_json_object_is_worded_for_each_wire() -> None:
    asked = prompt([], answer_format=AnswerFormat(), system=None)
    assert CHAT.request(asked)["response_format"] == {"type": "json_object"}
    assert RESPONSES.request(asked)["text"] == {"format": {"type": "json_object"}}
    [instruction] = ANTHROPIC.request(asked)["system"]
    assert "one JSON object" in instruction["text"]


def test_an_undescribed_schema_has_no_empty_description() -> None:
    asked = prompt([], answer_format=AnswerFormat(name="place", schema=SCHEMA))
    worded = CHAT.request(asked)["response_format"]["json_schema"]
    assert worded == {"name": "place", "schema": SCHEMA, "strict": False}


def test_responses_are_never_asked_for_fewer_tokens_than_their_wire_allows() -> None:
    assert RESPONSES.request(prompt([], max_tokens=3))["max_output_tokens"] == SMALLEST_LIMIT
    assert RESPONSES.request(prompt([], max_tokens=300))["max_output_tokens"] == 300


# --- what tools return ----------------------------------------------------------------------------

SEEN = {
    "role": "tool",
    "tool_call_id": "call.1",
    "content": [{"type": "text", "text": "A"}, PICTURE],
}
READ = {
    "role": "tool",
    "tool_call_id": "call.2",
    "content": [{"type": "text", "text": "B"}, {"type": "text", "text": "C"}],
}
CALLED = messages.assistant(None, [CALL, {**CALL, "id": "call.2"}])


def test_chat_shows_a_tools_picture_after_all_tools_spoke() -> None:
    request = CHAT.request(prompt([CALLED, SEEN, READ, messages.user("And?")], system=None))
    assert request["messages"] == [
        CALLED,
        {"role": "tool", "tool_call_id": "call.1", "content": "A"},
        {"role": "tool", "tool_call_id": "call.2", "content": "B\nC"},
        messages.user([{"type": "text", "text": "Returned by the tool call call.1:"}, PICTURE]),
        messages.user("And?"),
    ]


def test_chat_shows_a_tools_picture_also_at_the_end() -> None:
    request = CHAT.request(prompt([CALLED, SEEN]))
    assert [message["role"] for message in request["messages"][-2:]] == ["tool", "user"]


def test_responses_and_anthropic_take_a_tools_picture_where_it_is() -> None:
    *_, seen, read = RESPONSES.request(prompt([CALLED, SEEN, READ]))["input"]
    assert [part["type"] for part in seen["output"]] == ["input_text", "input_image"]
    assert read["output"] == "B\nC"
    *_, results = ANTHROPIC.request(prompt([CALLED, SEEN, READ]))["messages"]
    kinds = [[block["type"] for block in result["content"]] for result in results["content"]]
    assert kinds == [["text", "image"], ["text", "text"]]


@pytest.mark.parametrize(
    "url", ["data:image/jpeg;base64,AAAA", "DATA:image/jpeg;name=a.jpg;BASE64,AAAA"]
)
def test_anthropic_reads_every_way_to_write_a_data_url(url: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": url}}
    [turn] = ANTHROPIC.request(prompt([messages.user([picture])]))["messages"]
    source = {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}
    assert turn["content"][0]["source"] == source
