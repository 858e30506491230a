"""Readers for the fields of a request: forgiving in form, strict in meaning.

`null` always means absent. A value that cannot mean what the field asks for is refused by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hermes.core.errors import InvalidRequest

Body = Mapping[str, Any]

_SPELLED = {"true": True, "false": False}


def boolean(body: Body, name: str, default: bool, *, param: str | None = None) -> bool:
    """Also reads the quoted forms that some clients send."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, str):
        value = _SPELLED.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise wrong_type(param or name, "true or false", value)
    return value


def text(body: Body, name: str, *, param: str | None = None) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise wrong_type(param or name, "a string", value)
    return value


def required_text(body: Body, name: str, *, param: str) -> str:
    value = text(body, name, param=param)
    if not value:
        raise InvalidRequest(
            f"'{param}' is required.", param=param, code="missing_required_parameter"
        )
    return value


def integer(body: Body, name: str, *, low: int, high: int | None = None) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong_type(name, "a whole number", value)
    _check_range(name, value, low, high)
    return value


def number(body: Body, name: str, *, low: float, high: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise wrong_type(name, "a number", value)
    _check_range(name, value, low, high)
    return float(value)


def mapping(body: Body, name: str, *, param: str | None = None) -> dict[str, Any] | None:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise wrong_type(param or name, "an object", value)
    return value


def string_map(body: Body, name: str) -> dict[str, str]:
    found = mapping(body, name) or {}
    for key, value in found.items():
        if not isinstance(value, str):
            raise wrong_type(f"{name}.{key}", "a string", value)
    return found


def choice(
    body: Body, name: str, allowed: Collection[str], default: str, *, param: str | None = None
) -> str:
    value = body.get(name)
    if value is None:
        return default
    if value not in list(allowed):
        raise InvalidRequest(
            f"'{param or name}' must be one of {', '.join(allowed)}, not {shown(value)}.",
            param=param or name,
            code="invalid_value",
        )
    return str(value)


def wrong_type(param: str, expected: str, value: Any) -> InvalidRequest:
    return InvalidRequest(
        f"'{param}' must be {expected}, not {shown(value)}.", param=param, code="invalid_type"
    )


def shown(value: Any) -> str:
    """A value as an error message may quote it: short, and containers only by kind."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    written = repr(value)
    return written if len(written) <= 40 else f"{written[:37]}..."


def _check_range(name: str, value: float, low: float, high: float | None) -> None:
    if value < low or (high is not None and value > high):
        span = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InvalidRequest(f"'{name}' must be {span}.", param=name, code="invalid_value")
