"""JSON schemas from clients: which are refused before a turn begins."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.wire.json_schemas import refuse_unusable_schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}},
        {"$defs": {"a/b~c": {"type": "string"}}, "items": {"$ref": "#/$defs/a~1b~0c"}},
        {"$defs": {"a b": True}, "items": {"$ref": "#/$defs/a%20b"}},
        {"$defs": {"a": {"$anchor": "here"}}, "items": {"$ref": "#here"}},
        {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/anyOf/0"}}]},
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    ],
)
def test_a_whole_schema_passes(schema: dict[str, Any]) -> None:
    refuse_unusable_schema(schema, param="schema")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/missing"},
        {"$ref": "#missing"},
        {"$dynamicRef": "#missing"},
        {"$ref": "https://example.org/schema"},
        {"$ref": 5},
        {"anyOf": [{}], "items": {"$ref": "#/anyOf/1"}},
        {"anyOf": [{}], "items": {"$ref": "#/anyOf/x"}},
        {"title": "text", "items": {"$ref": "#/title"}},
        {"patternProperties": {"a": {}}, "items": {"$ref": "#/patternProperties/a"}},
        {"type": "strange"},
        {"pattern": "("},
    ],
)
def test_a_schema_nothing_can_be_checked_against_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        refuse_unusable_schema(schema, param="schema")

    assert (refused.value.code, refused.value.param) == ("invalid_schema", "schema")


@pytest.mark.parametrize("schema", [{"$schema": 5}, {"$schema": []}, {"$id": {}}])
def test_the_names_of_a_schema_are_strings(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        refuse_unusable_schema(schema, param="schema")

    assert refused.value.code == "invalid_type"
