"""JSON schemas that clients send: refused when nothing could ever be checked against them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from hermes.core.errors import InvalidRequest
from hermes.wire.lenient import shown, text

_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_NOT_FOLLOWED = "patternProperties"
"""Answers are not checked against regular expressions, so nothing is found below one."""


def refuse_unusable_schema(schema: Mapping[str, Any], *, param: str) -> None:
    """A schema must be one, and must be whole: what it refers to elsewhere is never fetched."""
    for name in ("$schema", "$id"):
        text(schema, name, param=f"{param}.{name}")
    for reference in _values_of(_REFERENCES, schema):
        if not isinstance(reference, str) or not _leads_somewhere(reference, schema):
            raise InvalidRequest(
                f"'{param}' refers to {shown(reference)}, which it does not hold; only references "
                "inside the schema ('#/$defs/...') are followed.",
                param=param,
                code="invalid_schema",
            )
    jsonschema = _jsonschema()
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        raise InvalidRequest(
            f"'{param}' is not a valid JSON schema: at {error.json_path}, {error.message[:300]}.",
            param=param,
            code="invalid_schema",
        ) from None


def _leads_somewhere(reference: str, schema: Mapping[str, Any]) -> bool:
    if not reference.startswith("#"):
        return False
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        return fragment in _values_of(_ANCHORS, schema)
    found: Any = schema
    for step in fragment.split("/")[1:]:
        found = _below(found, step.replace("~1", "/").replace("~0", "~"))
    return isinstance(found, (Mapping, bool))


def _below(value: Any, step: str) -> Any:
    """What a step of a JSON pointer leads to; None where there is nothing."""
    if isinstance(value, Mapping):
        return None if step == _NOT_FOLLOWED else value.get(step)
    if isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 10:
        return value[int(step)] if int(step) < len(value) else None
    return None


def _values_of(names: Collection[str], value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in names:
                yield inner
            yield from _values_of(names, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values_of(names, inner)


@functools.cache
def _jsonschema() -> Any:
    # Takes a good part of a cold start, and most requests never need it.
    return importlib.import_module("jsonschema")
