"""What a response repeats of its request."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.wire.response_echo import ResponseEcho, parse_echo


def test_a_request_without_settings_gets_the_defaults():
    assert parse_echo({}) == ResponseEcho()
    assert parse_echo(dict.fromkeys(["temperature", "tools", "text", "store"])) == ResponseEcho()


def test_settings_are_repeated_as_they_were_given():
    body = {
        "temperature": 0,
        "top_p": 0.5,
        "presence_penalty": -1,
        "frequency_penalty": 2,
        "top_logprobs": 0,
        "max_output_tokens": 100,
        "max_tool_calls": 4,
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "text": {"format": {"type": "json_object"}},
        "reasoning": {"effort": "low", "generate_summary": "auto"},
        "truncation": "auto",
        "store": "false",
        "background": "false",
        "metadata": {"k": "v"},
        "user": "u",
        "service_tier": "flex",
        "safety_identifier": "s",
        "prompt_cache_key": "p",
    }
    assert parse_echo(body) == ResponseEcho(
        temperature=0.0,
        top_p=0.5,
        presence_penalty=-1.0,
        frequency_penalty=2.0,
        max_output_tokens=100,
        max_tool_calls=4,
        parallel_tool_calls=False,
        tool_choice="none",
        text={"format": {"type": "json_object"}},
        reasoning={"effort": "low", "summary": None},
        truncation="auto",
        store=False,
        background=False,
        metadata={"k": "v"},
        user="u",
        service_tier="flex",
        safety_identifier="s",
        prompt_cache_key="p",
    )


def test_a_function_is_repeated_with_every_key():
    given = [{"type": "function", "name": "f", "x": 1}]
    assert parse_echo({"tools": given}).tools == [
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None}
    ]


def test_the_automatic_tier_is_the_default_one():
    assert parse_echo({"service_tier": "auto"}).service_tier == "default"


def test_text_settings_without_a_format_get_the_plain_one():
    assert parse_echo({"text": {"verbosity": "low"}}).text == {
        "verbosity": "low",
        "format": {"type": "text"},
    }


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"temperature": 3}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"truncation": "middle"}, "truncation"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"tool_choice": ["auto"]}, "tool_choice"),
        ({"tool_choice": {}}, "tool_choice.type"),
        ({"tools": {}}, "tools"),
        ({"tools": ["f"]}, "tools[0]"),
        ({"tools": [{}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"text": "json"}, "text"),
        ({"text": {"format": {}}}, "text.format.type"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
        ({"metadata": {"k": 1}}, "metadata.k"),
        ({"store": "perhaps"}, "store"),
        ({"reasoning": {"effort": "huge"}}, "reasoning.effort"),
        ({"text": {"verbosity": "much"}}, "text.verbosity"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"service_tier": "golden"}, "service_tier"),
        ({"metadata": {str(n): "v" for n in range(17)}}, "metadata"),
        ({"metadata": {"k" * 65: "v"}}, "metadata"),
        ({"metadata": {"k": "v" * 513}}, "metadata"),
        ({"background": True, "store": False}, "background"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(body: dict[str, Any], param: str):
    with pytest.raises(InvalidRequest) as caught:
        parse_echo(body)
    assert caught.value.param == param
