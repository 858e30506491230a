"""Values made up from schemas: always valid, whatever the schema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.demo.instances import instance_of

NODE = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["value", "next", "children"],
        }
    },
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, None),
        ({"type": "null"}, None),
        ({"type": "string"}, "example"),
        ({"type": "string", "minLength": 9}, "example.."),
        ({"type": "string", "maxLength": 2}, "ex"),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "exclusiveMinimum": 3}, 4),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "exclusiveMaximum": -3}, -4),
        ({"type": "integer", "minimum": 3, "multipleOf": 5}, 5),
        ({"type": "number", "minimum": 0.2, "maximum": 0.4}, 0.30000000000000004),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "boolean"}, True),
        ({"type": ["string", "null"]}, "example"),
        ({"enum": ["red", "blue"]}, "red"),
        ({"const": {"a": 1}}, {"a": 1}),
        ({"anyOf": [False, {"type": "integer"}]}, 0),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, None),
        ({"type": "object", "oneOf": [{"required": ["a"]}]}, {"a": None}),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"type": "array", "prefixItems": [{"const": 1}], "minItems": 2}, [1, None]),
        ({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}, {"a": 0}),
        (
            {
                "allOf": [
                    {"properties": {"a": {"const": 1}}, "required": ["a"]},
                    {"properties": {"b": {"const": 2}}, "required": ["b"]},
                ]
            },
            {"a": 1, "b": 2},
        ),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 7}}}, 7),
        (NODE, {"value": 0, "next": None, "children": []}),
    ],
)
def test_the_smallest_sensible_value_is_found(schema: dict[str, Any], value: Any) -> None:
    assert instance_of(schema) == value
    jsonschema.validate(value, schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [False]},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    ],
)
def test_a_schema_without_a_value_gives_nothing_instead_of_an_endless_search(
    schema: dict[str, Any],
) -> None:
    assert instance_of(schema) is None


def _objects(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(st.sampled_from("abcd"), children, max_size=3)
    return properties.flatmap(
        lambda known: st.builds(
            lambda required: {
                "type": "object",
                "properties": known,
                "required": required,
                "additionalProperties": False,
            },
            st.lists(st.sampled_from(sorted(known)), unique=True) if known else st.just([]),
        )
    )


def _arrays(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda items, count: {"type": "array", "items": items, "minItems": count},
        children,
        st.integers(0, 3),
    )


simple = st.one_of(
    st.sampled_from([{"type": "null"}, {"type": "boolean"}, {"type": "string"}, {"const": 3}]),
    st.builds(lambda low: {"type": "string", "minLength": low}, st.integers(0, 20)),
    st.builds(
        lambda kind, low, width: {"type": kind, "minimum": low, "maximum": low + width},
        st.sampled_from(["integer", "number"]),
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(
        lambda kind, low, step: {"type": kind, "exclusiveMinimum": low, "multipleOf": step},
        st.sampled_from(["integer", "number"]),
        st.integers(-9, 9),
        st.integers(1, 5),
    ),
    st.builds(lambda values: {"enum": values}, st.lists(st.integers(), min_size=1)),
)
schemas = st.recursive(
    simple,
    lambda children: st.one_of(
        _objects(children),
        _arrays(children),
        st.builds(lambda some: {"anyOf": some}, st.lists(children, min_size=1, max_size=3)),
    ),
    max_leaves=12,
)


@given(schemas)
def test_the_value_is_always_valid(schema: dict[str, Any]) -> None:
    jsonschema.validate(instance_of(schema), schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 10**12},
        {"type": "array", "minItems": 10**9},
        {"type": "array", "minItems": 999, "items": {"type": "array", "minItems": 999}},
        {"type": "array", "minItems": "many"},
        {"type": "object", "required": 5},
        {"type": "object", "properties": [1], "required": ["a"]},
        {"type": "number", "multipleOf": 1e-320, "minimum": 1e300},
    ],
)
def test_nothing_is_thought_of_for_what_is_too_much_or_no_schema(schema: dict[str, Any]) -> None:
    assert instance_of(schema) is None
