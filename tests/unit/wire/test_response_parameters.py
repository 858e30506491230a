"""What a Responses request asks of the turn."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.core.turn import AnswerFormat, ClientTools, Sampling, TurnParameters
from hermes.wire.responses import parse_responses

WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather",
    "parameters": {"type": "object"},
    "strict": True,
}
CLOCK = {"type": "function", "name": "clock"}
WEATHER_OFFERED = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather",
        "parameters": {"type": "object"},
        "strict": True,
    },
}
CLOCK_OFFERED = {"type": "function", "function": {"name": "clock"}}


def parameters(**body: Any) -> TurnParameters:
    return parse_responses({"input": "Hi", **body}).parameters


def test_what_is_not_said_is_left_to_the_provider():
    assert parameters() == TurnParameters(persist=True)
    assert parameters(store=False, temperature=None) == TurnParameters()


def test_everything_that_is_said_reaches_the_turn():
    found = parameters(
        temperature=0,
        top_p=0.5,
        presence_penalty=1,
        frequency_penalty=-1,
        max_output_tokens=100,
        max_tool_calls=3,
        reasoning={"effort": "low"},
        parallel_tool_calls=False,
        tools=[WEATHER],
        include=["reasoning.encrypted_content"],
        stream_options={"include_obfuscation": False},
        context_management=[
            {"type": "compaction", "compact_threshold": 5000},
            {"type": "compaction"},
            {"type": "compaction", "compact_threshold": 4000},
        ],
    )
    assert found == TurnParameters(
        persist=True,
        sampling=Sampling(
            temperature=0,
            top_p=0.5,
            presence_penalty=1,
            frequency_penalty=-1,
            max_tokens=100,
        ),
        reasoning_effort="low",
        client_tools=ClientTools(tools=(WEATHER_OFFERED,), parallel=False),
        max_tool_calls=3,
        compact_threshold=4000,
    )


@pytest.mark.parametrize(
    ("choice", "offered", "chosen"),
    [
        (None, (WEATHER_OFFERED, CLOCK_OFFERED), "auto"),
        ("none", (WEATHER_OFFERED, CLOCK_OFFERED), "none"),
        ("required", (WEATHER_OFFERED, CLOCK_OFFERED), "required"),
        (
            {"type": "function", "name": "clock"},
            (WEATHER_OFFERED, CLOCK_OFFERED),
            {"type": "function", "function": {"name": "clock"}},
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [CLOCK]},
            (CLOCK_OFFERED,),
            "required",
        ),
        ({"type": "allowed_tools", "tools": [CLOCK]}, (CLOCK_OFFERED,), "auto"),
    ],
)
def test_a_choice_decides_what_is_offered(choice: Any, offered: Any, chosen: Any):
    found = parameters(tools=[WEATHER, CLOCK], tool_choice=choice).client_tools
    assert (found.tools, found.choice) == (offered, chosen)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, AnswerFormat()),
        (
            {"type": "json_schema", "name": "n", "schema": {}, "strict": True, "description": "d"},
            AnswerFormat(name="n", schema={}, strict=True, description="d"),
        ),
    ],
)
def test_a_format_is_what_the_answer_must_have(wanted: Any, expected: Any):
    assert parameters(text={"format": wanted}).answer_format == expected


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"tools": [WEATHER, {"type": "web_search"}]}, "tools[1].type", "unsupported_tool"),
        ({"tools": [{"type": "custom", "name": "x"}]}, "tools[0].type", "unsupported_tool"),
        ({"tool_choice": "required"}, "tool_choice", "invalid_value"),
        (
            {"tools": [CLOCK], "tool_choice": {"type": "function", "name": "x"}},
            "tool_choice.name",
            "invalid_value",
        ),
        ({"tool_choice": {"type": "web_search"}}, "tool_choice.type", "unsupported_tool"),
        (
            {"tools": [CLOCK], "tool_choice": {"type": "allowed_tools", "tools": [WEATHER]}},
            "tool_choice.tools[0].name",
            "invalid_value",
        ),
        (
            {"tools": [CLOCK], "tool_choice": {"type": "allowed_tools", "tools": []}},
            "tool_choice.tools",
            "invalid_type",
        ),
        ({"include": ["message.output_text.logprobs"]}, "include[0]", "unsupported_parameter"),
        ({"include": ["everything"]}, "include[0]", "invalid_value"),
        ({"include": "all"}, "include", "invalid_type"),
        ({"prompt": {"id": "p"}}, "prompt", "unsupported_parameter"),
        ({"stream_options": 1}, "stream_options", "invalid_type"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value"),
        (
            {"text": {"format": {"type": "json_schema", "name": "n"}}},
            "text.format.schema",
            "missing_required_parameter",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": 1}}}},
            "text.format.schema",
            "invalid_schema",
        ),
        (
            {"text": {"format": {"type": "json_schema", "schema": {}}}},
            "text.format.name",
            "missing_required_parameter",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(body: dict[str, Any], param: str, code: str):
    with pytest.raises(InvalidRequest) as caught:
        parameters(**body)
    assert (caught.value.param, caught.value.code) == (param, code)


def test_what_is_said_in_vain_is_named():
    body = {
        "input": "Hi",
        "user": "u",
        "include": [],
        "service_tier": "auto",
        "text": {"verbosity": "low"},
        "colour": "blue",
        "safety_identifier": None,
    }
    assert parse_responses(body).ignored == ("user", "colour", "text.verbosity")
