"""JSON schema from type hints: what the model is told about a tool's parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


@dataclass(frozen=True, slots=True)
class Between:
    """Limits of a number, both included; written next to the description in `Annotated`."""

    low: int
    high: int


def parameters_of(function: Callable[..., Any]) -> Schema:
    """The schema of a function's parameters, without the first one (the context)."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return {
        "type": "object",
        "properties": {each.name: _property(hints[each.name], each.default) for each in parameters},
        "required": [each.name for each in parameters if each.default is inspect.Parameter.empty],
        "additionalProperties": False,
    }


def schema_of(hint: Any) -> Schema:
    """The schema of one type hint; a hint without a JSON counterpart is a `TypeError`."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return schema_of(arguments[0]) | _notes(arguments[1:])
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each) for each in arguments]}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if is_typeddict(hint):
        return _object(hint)
    raise TypeError(
        f"no JSON schema for {hint!r}; use str, int, float, bool, list, TypedDict, Literal or None"
    )


def _object(hint: Any) -> Schema:
    """Of the keys of a `TypedDict`. The tool itself checks what is in one."""
    fields = get_type_hints(hint, include_extras=False)
    return {
        "type": "object",
        "properties": {name: schema_of(field) for name, field in fields.items()},
        "required": [name for name in fields if name in hint.__required_keys__],
    }


def _property(hint: Any, default: Any) -> Schema:
    schema = schema_of(hint)
    return schema if default is inspect.Parameter.empty else schema | {"default": default}


def _notes(notes: tuple[Any, ...]) -> Schema:
    schema: Schema = {}
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, Between):
            schema |= {"minimum": note.low, "maximum": note.high}
    return schema


def _choice(values: tuple[Any, ...]) -> Schema:
    types = {_SCALARS[type(value)] for value in values}
    schema: Schema = {"enum": list(values)}
    return {"type": types.pop()} | schema if len(types) == 1 else schema
