"""Values that are written as text: in the query of a URL, in the fields of a form."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.core.errors import InvalidRequest

_MOST_DIGITS = 19
"""A number of a thousand digits is not worth converting."""


def whole_number(fields: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    """The number under `name`; `default` where there is nothing or only white space."""
    written = fields.get(name, "").strip()
    if not written:
        return default
    readable = written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS
    if not readable or not low <= int(written) <= high:
        raise InvalidRequest(
            f"'{name}' must be a whole number from {low} to {high}.",
            param=name,
            code="invalid_value",
        )
    return int(written)


def yes_or_no(fields: Mapping[str, str], name: str, *, default: bool) -> bool:
    """The same for a choice."""
    written = fields.get(name, "").strip().lower()
    if not written:
        return default
    if written not in ("true", "false", "1", "0"):
        raise InvalidRequest(f"'{name}' must be true or false.", param=name, code="invalid_value")
    return written in ("true", "1")
