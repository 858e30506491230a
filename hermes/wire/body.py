"""The one place where a request body becomes JSON.

Whatever passes is safe for everything behind it: text without NUL or lone surrogates, numbers that
mean what the caller wrote, and so little nesting that no later walk runs out of stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from hermes.core.errors import InvalidRequest

MAX_DEPTH = 200

_MOST_DIGITS = len(str(2**64))
_MANY_DIGITS = re.compile(rb"[0-9]{19}")


def parse_object(raw: bytes) -> dict[str, Any]:
    """The body as an object, or `InvalidRequest` saying what is wrong with it."""
    document = _parse(raw)
    if not isinstance(document, dict):
        raise InvalidRequest("The request body must be a JSON object.", code="invalid_json")
    # Each search is skipped where a glance at the bytes shows that there is nothing to find.
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        _refuse_depth(document)
    if _MANY_DIGITS.search(raw):
        _refuse_rounded_integers(raw)
    if b"\\u0000" in raw:  # orjson refuses a NUL that is not escaped
        _refuse_nul(document)
    return document


def _parse(raw: bytes) -> Any:
    if not raw.strip():
        raise _invalid("the request body is empty")
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # The original carries the whole body; it must not travel on into a log.
        raise _invalid(str(error)) from None


def _invalid(reason: str) -> InvalidRequest:
    return InvalidRequest(f"Invalid JSON in the request body: {reason}.", code="invalid_json")


def _refuse_depth(document: Any) -> None:
    """Without recursion: that is what deep nesting breaks."""
    pending = [(document, 1)]
    while pending:
        value, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise _invalid(f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, dict):
            pending.extend((child, depth + 1) for child in value.values())
        elif isinstance(value, list):
            pending.extend((child, depth + 1) for child in value)


def _refuse_rounded_integers(raw: bytes) -> None:
    """orjson turns an integer that does not fit 64 bits into a float without a word."""
    json.loads(raw, parse_int=_fitting_integer)


def _fitting_integer(digits: str) -> int:
    # Looking at the length first keeps a million digits from being converted at all.
    if len(digits.lstrip("-")) > _MOST_DIGITS or not -(2**63) <= int(digits) < 2**64:
        raise _invalid(f"the integer {digits[:24]} does not fit 64 bits; send it as a string")
    return int(digits)


def _refuse_nul(document: dict[str, Any]) -> None:
    param = _path_of_nul(document, "")
    if param is not None:
        raise InvalidRequest(
            "Text must not contain NUL characters (\\u0000).",
            param=param or None,
            code="invalid_value",
        )


def _path_of_nul(value: Any, path: str) -> str | None:
    if isinstance(value, str):
        return path if "\x00" in value else None
    if isinstance(value, dict):
        return _first(_nul_in_entry(key, child, path) for key, child in value.items())
    if isinstance(value, list):
        return _first(_path_of_nul(child, f"{path}[{at}]") for at, child in enumerate(value))
    return None


def _nul_in_entry(key: str, child: Any, path: str) -> str | None:
    if "\x00" in key:
        return path
    return _path_of_nul(child, f"{path}.{key}" if path else key)


def _first(paths: Iterator[str | None]) -> str | None:
    return next((path for path in paths if path is not None), None)
