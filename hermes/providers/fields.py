"""Reads what a provider sent, be it a dict (our own client) or an object (an SDK's, anybody's).

Nothing here raises: a missing name, a wrong type or a foreign value simply reads as nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson


def field(source: Any, name: str) -> Any:
    """The value under `name`, or None. Called several times per token: keep it short."""
    if source.__class__ is dict:
        return source.get(name)
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)


def text_field(source: Any, name: str) -> str:
    value = field(source, name)
    return value if isinstance(value, str) else ""


def list_field(source: Any, name: str) -> list[Any]:
    value = field(source, name)
    if isinstance(value, list):
        return value
    return list(value) if isinstance(value, tuple) else []


def count_field(source: Any, name: str) -> int:
    """A number of tokens; anything that is not one counts as zero."""
    value = field(source, name)
    if value.__class__ is int:
        return value if value > 0 else 0
    return int(value) if isinstance(value, int) and value is not True and value > 0 else 0


def amount_field(source: Any, name: str) -> float | None:
    """An amount of money; anything that is not one is None."""
    value = field(source, name)
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def index_field(source: Any, name: str) -> int | None:
    value = field(source, name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def plain(value: Any) -> Any:
    """`value` as JSON-ready data; SDK objects are asked for their dict form."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump(exclude_none=True))
    return plain(getattr(value, "__dict__", None))


def arguments_text(arguments: Any) -> str:
    """Tool arguments as JSON text; some providers send the parsed object instead."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return encode_json(plain(arguments)).decode()


def parse_json(data: bytes) -> Any:
    """JSON as providers really write it: bad UTF-8 and lone surrogates are replaced.

    Raises ValueError for what is not JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)


def _parse_leniently(data: bytes) -> Any:
    try:
        value = json.loads(data.decode(errors="replace"))
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def encode_json(value: Any) -> bytes:
    """`value` as UTF-8; lone surrogates become `?`, as no provider could read them."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False).encode(errors="replace")
