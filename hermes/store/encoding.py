"""Python text and JSON as SQLite values and back, exactly.

SQLite's text is UTF-8, and a lone surrogate is not: such text is stored as bytes instead.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

Stored = str | bytes


def bind(**values: Stored | float | None) -> dict[str, Stored | float | None]:
    """The named parameters of a statement, with every text in a form that SQLite takes."""
    return {
        name: to_stored(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def plain(row: sqlite3.Row) -> dict[str, Any]:
    """A row as a dict, with every text as it was before `bind`."""
    return {
        name: from_stored(value) if isinstance(value, bytes) else value
        for name, value in zip(row.keys(), row, strict=True)
    }


def from_stored(value: Stored) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def to_json(value: Any) -> str:
    """`value` as JSON text; raises `TypeError` when it is not JSON."""
    # Characters are kept rather than escaped: two surrogates in a row would come back as one
    # character.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def from_json(stored: Stored) -> Any:
    return json.loads(from_stored(stored))


def to_stored(text: str) -> Stored:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text
