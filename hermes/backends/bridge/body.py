"""Reading what callers send, and complaints in the flat form of the bridge. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from hermes.backends.bridge.claude import DEFAULT_MODEL, MODELS
from hermes.core.errors import InvalidRequest


def invalid(detail: str, *, param: str) -> InvalidRequest:
    return InvalidRequest("invalid request", param=param, extra={"detail": detail, "param": param})


def read_object(body: bytes, *, wants: str) -> dict[str, Any]:
    """Raises `InvalidRequest`; `wants` is what the object should at least have."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise invalid("the body is not valid JSON", param="body") from error
    if not isinstance(fields, dict):
        raise invalid(f'the body must be a JSON object with "{wants}"', param="body")
    return fields


def model_of(fields: dict[str, Any]) -> str:
    named = fields.get("model")
    if named is None:
        return DEFAULT_MODEL
    if isinstance(named, str) and named in MODELS:
        return named
    raise InvalidRequest("unsupported model", param="model", extra={"supported": list(MODELS)})


def amount_of(fields: dict[str, Any], name: str, *, most: float, variable: str) -> float:
    """A number up to what the operator allows, which is also what is taken if there is none."""
    value = fields.get(name)
    if value is None:
        return most
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise invalid(f"{name} must be a number above 0", param=name)
    if value > most:
        detail = f"{name} can be {most:g} at most; whoever runs the bridge can raise {variable}"
        raise invalid(detail, param=name)
    return float(value)
