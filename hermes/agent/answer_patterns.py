"""A client's schema as far as answers are checked against it: everything but regular expressions.

A regular expression can be made to run for ever, and nothing else runs meanwhile. The model is
told of the patterns all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN_VALUES = ("const", "enum", "default", "examples")
_BY_OWN_NAMES = ("properties", "$defs", "definitions", "dependentSchemas")
"""Below these stand schemas under names that the client chose, `pattern` perhaps."""


def without_patterns(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_patterns(entry) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {
        name: _below(name, value)
        for name, value in schema.items()
        if name not in ("pattern", "patternProperties")
    }
    if "patternProperties" in schema:
        # Which properties are additional depends on the patterns.
        kept.pop("unevaluatedProperties", None)
        kept["additionalProperties"] = True
    return kept


def _below(keyword: str, value: Any) -> Any:
    if keyword in _PLAIN_VALUES:
        return value
    if keyword in _BY_OWN_NAMES and isinstance(value, Mapping):
        return {name: without_patterns(schema) for name, schema in value.items()}
    return without_patterns(value)
