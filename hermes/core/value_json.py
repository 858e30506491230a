"""Frozen values as plain JSON data and back. Which fields hold which values is the caller's table.

What a newer version wrote and this one does not know is ignored; what an older one did not write
gets its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")

Reader = Callable[[Any], Any]
Readers = Mapping[str, Reader]
"""By name, how the fields are read that are more than JSON."""


def to_plain(value: Any) -> Any:
    """`value` in dicts, lists, texts and numbers."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: to_plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    return [to_plain(each) for each in value]


def reader_of(kind: type[T], readers: Readers | None = None) -> Callable[[Any], T]:
    """Reads what `to_plain` made of a `kind`. None is not read: it stays what it is."""
    read = dict(readers or {})
    known = frozenset(field.name for field in fields(kind))  # type: ignore[arg-type]

    def build(data: Mapping[str, Any]) -> T:
        return kind(
            **{
                name: value if value is None or name not in read else read[name](value)
                for name, value in data.items()
                if name in known
            }
        )

    return build


def tuple_of(read: Reader) -> Reader:
    return lambda values: tuple(map(read, values))


def mapping_of(read: Reader) -> Reader:
    return lambda values: {name: read(value) for name, value in values.items()}
