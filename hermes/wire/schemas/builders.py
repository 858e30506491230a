"""The few words that schemas are written with. Each makes a plain JSON Schema (2020-12) object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

ANYTHING: Schema = {}
"""Every JSON value."""
NULL: Schema = {"type": "null"}
OBJECT: Schema = {"type": "object"}
"""An object whose keys are somebody else's business."""


def string(*, shortest: int = 0, longest: int | None = None, pattern: str | None = None) -> Schema:
    limits = {"minLength": shortest or None, "maxLength": longest, "pattern": pattern}
    return {"type": "string", **_given(limits)}


def integer(low: int | None = None, high: int | None = None) -> Schema:
    return {"type": "integer", **_given({"minimum": low, "maximum": high})}


def written_integer(low: int, high: int) -> Schema:
    """An integer of a query; an empty text is as good as leaving it out."""
    return any_of(integer(low, high), constant(""))


def number(low: float | None = None, high: float | None = None) -> Schema:
    return {"type": "number", **_given({"minimum": low, "maximum": high})}


def boolean() -> Schema:
    return {"type": "boolean"}


def flag() -> Schema:
    """A boolean of a request, which may also be spelled as a string."""
    return any_of(boolean(), one_of("true", "false"))


def constant(value: str | bool | None) -> Schema:
    return {"const": value}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def or_null(schema: Schema) -> Schema:
    return any_of(schema, NULL)


def list_of(item: Schema, *, fewest: int = 0, most: int | None = None) -> Schema:
    limits = {"minItems": fewest or None, "maxItems": most}
    return {"type": "array", "items": item, **_given(limits)}


def map_of(value: Schema, *, most: int | None = None) -> Schema:
    return {"type": "object", "additionalProperties": value, **_given({"maxProperties": most})}


def record(
    required: Mapping[str, Schema] | None = None, optional: Mapping[str, Schema] | None = None
) -> Schema:
    """An object with these keys. More keys are no fault: readers ignore what they do not know."""
    properties = {**(required or {}), **(optional or {})}
    names = _given({"required": list(required or ()) or None})
    return {"type": "object", "properties": properties, **names}


def request(
    required: Mapping[str, Schema] | None = None, optional: Mapping[str, Schema] | None = None
) -> Schema:
    """A record that somebody sends us: `null` is as good as leaving an optional key out."""
    return record(required, {name: or_null(schema) for name, schema in (optional or {}).items()})


def tagged(kind: str, required: Mapping[str, Schema], **optional: Schema) -> Schema:
    """A record whose `type` says what it is."""
    return record({"type": constant(kind), **required}, optional)


def ref(name: str) -> Schema:
    """A schema of the catalogue, by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def about(words: str, schema: Schema) -> Schema:
    """The same schema with a sentence for its reader."""
    return {**schema, "description": words}


def _given(keywords: Mapping[str, Any]) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}
