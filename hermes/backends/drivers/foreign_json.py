"""Reading JSON that somebody else wrote: whatever is not there or not as expected is empty."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

Json = Mapping[str, Any]

NOTHING: Json = {}


def object_of(line: bytes | str) -> Json | None:
    """The JSON object that `line` is; None: it is something else.

    What no answer of ours could carry is replaced: bad UTF-8, half a surrogate pair.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _read_leniently(line if isinstance(line, str) else line.decode(errors="replace"))
    return value if isinstance(value, dict) else None


def _read_leniently(line: str) -> Any:
    try:
        written = json.dumps(json.loads(line), ensure_ascii=False)
        return json.loads(written.encode(errors="replace"))
    except (ValueError, RecursionError):
        return None


def inner(value: Any, *path: str) -> Json:
    """The object under `path`."""
    found = at(value, *path)
    return found if isinstance(found, Mapping) else NOTHING


def items(value: Any, *path: str) -> Sequence[Json]:
    """The objects of the list under `path`."""
    found = at(value, *path)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(value: Any, *path: str) -> str:
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def count(value: Any, *path: str) -> int:
    """A number of tokens and the like: whole and not negative."""
    found = at(value, *path)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return max(0, int(found)) if is_number and found == found and abs(found) < 1e15 else 0


def at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def as_line(value: Any) -> bytes:
    """`value` as one line of JSON. Half a surrogate pair in a text becomes a question mark."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return written.encode(errors="replace") + b"\n"
