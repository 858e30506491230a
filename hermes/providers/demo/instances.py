"""A small value that is valid by a JSON schema, for a model that has nothing to say of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]

_EXAMPLES = {
    "date-time": "2026-01-01T12:00:00Z",
    "date": "2026-01-01",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "ada@example.com",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}
_WORD = "example"
_MOST_NESTED = 40
_MOST_VALUES = 2_000
_LONGEST_TEXT = 10_000


def instance_of(schema: Schema) -> Any:
    """Holds what the schema requires and nothing else; None where no value can be thought of."""
    try:
        return _Builder(schema).build(schema, ())
    except _Unsatisfiable:
        return None
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        # Schemas of tools come as their clients wrote them; this one is none.
        return None


class _Unsatisfiable(Exception):
    """No value of this schema was found: it contains itself, allows nothing, or asks for a lot."""


class _Builder:
    """Follows references into the one schema they all belong to."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._values = 0

    def build(self, schema: Any, path: tuple[str, ...]) -> Any:
        """`path` has the references that led here; one of them again would lead on for ever."""
        self._values += 1
        if schema is False or len(path) > _MOST_NESTED or self._values > _MOST_VALUES:
            raise _Unsatisfiable
        if not isinstance(schema, Mapping):
            return None
        if "$ref" in schema:
            return self._referenced(schema, path)
        for name in ("anyOf", "oneOf"):
            if isinstance(schema.get(name), list):
                return self._first_of(_alternatives(schema, name), path)
        if isinstance(schema.get("allOf"), list):
            return self.build(_merged([_without(schema, "allOf"), *schema["allOf"]]), path)
        return self._of_type(schema, path)

    def _referenced(self, schema: Schema, path: tuple[str, ...]) -> Any:
        reference = str(schema["$ref"])
        if reference in path:
            raise _Unsatisfiable
        beside = _without(schema, "$ref")
        target = _at(self._root, reference)
        return self.build(_merged([beside, target]) if beside else target, (*path, reference))

    def _first_of(self, schemas: Iterable[Any], path: tuple[str, ...]) -> Any:
        for schema in schemas:
            try:
                return self.build(schema, path)
            except _Unsatisfiable:
                continue
        raise _Unsatisfiable

    def _of_type(self, schema: Schema, path: tuple[str, ...]) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return schema["enum"][0]
        kind = _type_of(schema)
        if kind == "object":
            return self._object(schema, path)
        if kind == "array":
            return self._array(schema, path)
        simple = _SIMPLE.get(kind)
        return simple(schema) if simple else None

    def _object(self, schema: Schema, path: tuple[str, ...]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        wanted = schema.get("required", ())
        return {name: self.build(properties.get(name, others), path) for name in wanted}

    def _array(self, schema: Schema, path: tuple[str, ...]) -> list[Any]:
        count = int(schema.get("minItems", 0))
        if count > _MOST_VALUES:
            raise _Unsatisfiable
        first = list(schema.get("prefixItems", ()))[:count]
        rest = [schema.get("items", True)] * (count - len(first))
        return [self.build(item, path) for item in (*first, *rest)]


def _alternatives(schema: Schema, name: str) -> Iterable[Any]:
    """What stands beside the alternatives holds for each of them."""
    beside = _without(schema, name)
    return (_merged([beside, one]) if beside else one for one in schema[name])


def _merged(schemas: Iterable[Any]) -> Any:
    """All of them at once, as far as that can be said in one schema."""
    whole: dict[str, Any] = {}
    for schema in schemas:
        if schema is False:
            return False
        if not isinstance(schema, Mapping):
            continue
        properties = {**whole.get("properties", {}), **schema.get("properties", {})}
        required = [*whole.get("required", ()), *schema.get("required", ())]
        whole = {**whole, **schema}
        if properties:
            whole["properties"] = properties
        if required:
            whole["required"] = list(dict.fromkeys(required))
    return whole


def _without(schema: Schema, name: str) -> dict[str, Any]:
    """The schema's other keywords, without those that say nothing about a value."""
    silent = (name, "$defs", "definitions", "title", "description", "default")
    return {key: value for key, value in schema.items() if key not in silent}


def _at(root: Schema, reference: str) -> Any:
    """What a reference such as `#/$defs/Point` points to; elsewhere we do not look."""
    if not reference.startswith("#"):
        raise _Unsatisfiable
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            raise _Unsatisfiable
        found = found[name]
    return found


def _type_of(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        return str(kind[0])
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema or "required" in schema else ""


def _string(schema: Schema) -> str:
    text = _EXAMPLES.get(str(schema.get("format")), _WORD)
    shortest = int(schema.get("minLength", 0))
    if shortest > _LONGEST_TEXT:
        raise _Unsatisfiable
    return text.ljust(shortest, ".")[: int(schema.get("maxLength", max(shortest, len(text))))]


def _integer(schema: Schema) -> int:
    """The integer nearest to zero within the bounds, a multiple of what it has to be."""
    low, high = _bounds(schema)
    step = schema.get("multipleOf") or 1
    nearest = max(low, min(high, 0))
    value = math.ceil(nearest / step) * step
    if value == schema.get("exclusiveMinimum"):
        value += step
    elif value > high or value == schema.get("exclusiveMaximum"):
        value = (math.ceil(high / step) - 1) * step
    return int(value)


def _number(schema: Schema) -> float:
    """An integer where one fits; between two bounds that leave none, their middle."""
    low, high = _bounds(schema)
    value = _integer(schema)
    if low <= value <= high and value != schema.get("exclusiveMaximum"):
        return value
    return (low + high) / 2


def _bounds(schema: Schema) -> tuple[float, float]:
    low = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    high = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    return max(low, default=-math.inf), min(high, default=math.inf)


_SIMPLE: Mapping[str, Callable[[Schema], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _: True,
}
