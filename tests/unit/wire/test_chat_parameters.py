"""What a chat request may say beside its messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.core.turn import AnswerFormat, Sampling
from hermes.wire.chat_parameters import IGNORED, PLAIN, ChatParameters, read_parameters

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def read(**fields: Any) -> ChatParameters:
    return read_parameters({"messages": [], "model": "m", **fields})


def refusal(**fields: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read(**fields)
    return caught.value


def test_a_plain_request_makes_nothing_new():
    assert read(stream=True, stream_options={"include_usage": True}, temperature=None) is PLAIN


def test_sampling_is_read_whole():
    assert read(
        temperature=0.5,
        top_p=1,
        max_tokens=7,
        stop=["a", "b"],
        seed=-3,
        presence_penalty=-2,
        frequency_penalty=2,
    ).sampling == Sampling(
        temperature=0.5,
        top_p=1.0,
        max_tokens=7,
        stop=("a", "b"),
        seed=-3,
        presence_penalty=-2.0,
        frequency_penalty=2.0,
    )


def test_the_newer_name_of_the_limit_wins():
    assert read(max_tokens=7, max_completion_tokens=9).sampling.max_tokens == 9


def test_one_stop_sequence_may_stand_alone():
    assert read(stop="END").sampling.stop == ("END",)


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"temperature": "hot"}, "temperature", "invalid_type"),
        ({"top_p": -0.1}, "top_p", "invalid_value"),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens", "invalid_type"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop", "invalid_value"),
        ({"stop": [""]}, "stop", "invalid_type"),
        ({"stop": 5}, "stop", "invalid_type"),
        ({"seed": "x"}, "seed", "invalid_type"),
        ({"presence_penalty": 2.5}, "presence_penalty", "invalid_value"),
        ({"reasoning_effort": "huge"}, "reasoning_effort", "invalid_value"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_value"),
        ({"response_format": "json"}, "response_format", "invalid_type"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
            "response_format.json_schema.schema",
            "invalid_type",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
            "response_format.json_schema.name",
            "missing_required_parameter",
        ),
        ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
        ({"metadata": {str(at): "" for at in range(17)}}, "metadata", "invalid_value"),
        ({"metadata": {"k" * 65: ""}}, "metadata", "invalid_value"),
        ({"metadata": {"k": "v" * 513}}, "metadata", "invalid_value"),
        ({"user": 5}, "user", "invalid_type"),
        ({"n": 2}, "n", "unsupported_parameter"),
        ({"n": True}, "n", "unsupported_parameter"),
        ({"top_logprobs": False}, "top_logprobs", "unsupported_parameter"),
        ({"logprobs": True}, "logprobs", "unsupported_parameter"),
        ({"top_logprobs": 2}, "top_logprobs", "unsupported_parameter"),
        ({"functions": [{"name": "f"}]}, "functions", "unsupported_parameter"),
        ({"function_call": {"name": "f"}}, "function_call", "unsupported_parameter"),
        ({"audio": {"voice": "ash"}}, "audio", "unsupported_parameter"),
        ({"modalities": ["text", "audio"]}, "modalities", "unsupported_parameter"),
        ({"web_search_options": {}}, "web_search_options", "unsupported_parameter"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(fields: dict[str, Any], param: str, code: str):
    error = refusal(**fields)
    assert (error.param, error.code) == (param, code)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, AnswerFormat()),
        (
            {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}},
            AnswerFormat(name="x", schema=SCHEMA, strict=True),
        ),
    ],
)
def test_the_answers_format_is_read(wanted: dict[str, Any], expected: AnswerFormat | None):
    assert read(response_format=wanted).answer_format == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strange"},
        {"properties": 5},
        {"$ref": "http://127.0.0.1/schema.json"},
        {"properties": {"a": {"anyOf": [{"$ref": "file:///etc/passwd"}]}}},
        {"$dynamicRef": 5},
    ],
)
def test_a_schema_nothing_can_be_checked_against_is_refused(schema: dict[str, Any]):
    described = {"name": "x", "schema": schema}
    error = refusal(response_format={"type": "json_schema", "json_schema": described})
    assert (error.code, error.param) == ("invalid_schema", "response_format.json_schema.schema")


def test_a_schema_may_refer_to_its_own_parts():
    schema = {"$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
    described = {"name": "x", "schema": schema}
    asked = read(response_format={"type": "json_schema", "json_schema": described})
    assert asked.answer_format is not None
    assert asked.answer_format.schema == schema


def test_what_has_no_effect_is_named_in_the_order_of_the_request():
    asked = read(zebra=1, user="ann", temperature=1, verbosity="low", acme=None)
    assert asked.ignored == ("zebra", "user", "verbosity")


def test_values_that_change_nothing_are_not_worth_a_word():
    asked = read(
        n=1,
        logprobs=False,
        modalities=["text"],
        service_tier="auto",
        verbosity="medium",
        logit_bias={},
        functions=[],
    )
    assert asked.ignored == ()


def test_metadata_counts_only_where_the_completion_is_kept():
    assert read(metadata={"a": "b"}).ignored == ("metadata",)
    kept = read(metadata={"a": "b"}, store=True)
    assert (kept.ignored, kept.metadata, kept.store) == ((), {"a": "b"}, True)


@given(st.dictionaries(st.sampled_from([*IGNORED, "acme", "temperature"]), st.just("1")))
def test_nothing_is_ever_dropped_in_silence(fields: dict[str, Any]):
    fields.pop("temperature", None)
    assert set(read(**fields).ignored) == set(fields)
