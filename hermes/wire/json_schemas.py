"""JSON schemas that clients send: refused when nothing could ever be checked against them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.wire.lenient import shown

_REFERENCES = ("$ref", "$dynamicRef")


def refuse_unusable_schema(schema: Mapping[str, Any], *, param: str) -> None:
    """A schema must be one, and must be whole: what it refers to elsewhere is never fetched."""
    for reference in _references(schema):
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise InvalidRequest(
                f"'{param}' refers to {shown(reference)}; only references inside the schema "
                "('#/$defs/...') are followed.",
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


def _references(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _REFERENCES:
                yield inner
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


@functools.cache
def _jsonschema() -> Any:
    # Takes a good part of a cold start, and most requests never need it.
    return importlib.import_module("jsonschema")
