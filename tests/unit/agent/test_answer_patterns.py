"""Answers are checked against a client's schema, but never against its regular expressions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.agent.answer_format import fault_of
from hermes.core.turn import AnswerFormat


def _fault(value: Any, schema: dict[str, Any]) -> str | None:
    return fault_of(json.dumps(value), AnswerFormat(schema=schema))


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"$defs": {"a": {"pattern": "^(a+)+$"}}, "properties": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}
        | {"anyOf": [{"properties": {"a": {"pattern": "^(a+)+$"}}}]},
        {"properties": {"a": {"type": "string"}}, "patternProperties": {"^(a+)+$": False}},
    ],
)
def test_no_regular_expression_of_a_client_is_run(schema: dict[str, Any]) -> None:
    endless = "a" * 40 + "!"

    assert _fault({"a": endless, endless: 1}, schema) is None


def test_a_property_may_be_called_pattern() -> None:
    schema = {"properties": {"pattern": {"type": "integer"}}, "additionalProperties": False}

    assert _fault({"pattern": 1}, schema) is None
    assert _fault({"pattern": "x"}, schema) is not None
    assert _fault({"other": 1}, schema) is not None


def test_values_that_look_like_schemas_are_compared_as_they_are() -> None:
    schema = {"const": {"pattern": "x"}}

    assert _fault({"pattern": "x"}, schema) is None
    assert _fault({}, schema) is not None
