"""Arguments as a model sends them: parsed, gently fitted to the schema, mistakes explained."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from hermes.tools.problem import ToolProblem


class _Misfit(ValueError):
    """A value that cannot be what the schema wants; the text continues "`name` …"."""


def fit_arguments(
    name: str, arguments: str | Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments as the tool's function takes them, or a problem that shows the correct call.

    Harmless slips are mended: numbers and booleans sent as strings, null for "use the default".
    """
    try:
        given = _parsed(arguments)
    except _Misfit as misfit:
        raise _explained(name, [str(misfit)], parameters) from misfit
    mistakes: list[str] = []
    fitted: dict[str, Any] = {}
    properties = parameters.get("properties", {})
    is_open = parameters.get("additionalProperties") is not False
    for key, value in given.items():
        if key not in properties and is_open:
            fitted[key] = value
        elif key not in properties:
            mistakes.append(_unknown(key, properties))
        elif value is not None or _wants_null(properties[key]):
            try:
                fitted[key] = _fit(value, properties[key])
            except _Misfit as misfit:
                mistakes.append(f"`{key}` {misfit}.")
    missing = (key for key in _required(parameters) if given.get(key) is None)
    mistakes += [f"`{key}` is required." for key in missing if key not in fitted]
    if mistakes:
        raise _explained(name, mistakes, parameters)
    return fitted


def _parsed(arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    try:
        # Models often send raw line breaks inside strings: unlawful, but without any doubt.
        given = json.loads(arguments, strict=False, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _Misfit(f"The arguments are not valid JSON ({_reason(error)}).") from error
    if not isinstance(given, dict):
        raise _Misfit("The arguments must be one JSON object.")
    return given


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _unknown(key: str, properties: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(key, properties, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else "."
    return f"`{key}` is not a parameter{hint}"


def _explained(name: str, mistakes: list[str], parameters: Mapping[str, Any]) -> ToolProblem:
    lines = "\n".join(f"- {mistake}" for mistake in mistakes)
    return ToolProblem(f"{name} was not run:\n{lines}\nCall it as: {usage(name, parameters)}")


def usage(name: str, parameters: Mapping[str, Any]) -> str:
    """How to call a tool, such as `read_file(path: string, offset: integer = 1)`."""
    required = _required(parameters)
    words = []
    for key, said in parameters.get("properties", {}).items():
        usual = said.get("default") if isinstance(said, Mapping) else None
        default = "" if key in required else f" = {json.dumps(usual)}"
        words.append(f"{key}: {_type_name(said)}{default}")
    return f"{name}({', '.join(words)})"


def _required(parameters: Mapping[str, Any]) -> list[str]:
    said = parameters.get("required")
    return [key for key in said if isinstance(key, str)] if isinstance(said, list) else []


def _plain(said: Any) -> Mapping[str, Any]:
    """A schema as those of our own tools are written; strangers know more ways to say it.

    What is not understood allows everything: whoever wrote it checks its arguments itself.
    """
    if not isinstance(said, Mapping):
        return {}
    kind = said.get("type")
    if isinstance(kind, list):
        return {"anyOf": [{**said, "type": each} for each in kind if isinstance(each, str)]}
    options = said.get("anyOf") or said.get("oneOf")
    if isinstance(options, list):
        return {"anyOf": options}
    is_odd = {"type": not isinstance(kind, str), "enum": not isinstance(said.get("enum"), list)}
    return {key: value for key, value in said.items() if not is_odd.get(key, key == "anyOf")}


def _type_name(said: Any) -> str:
    schema = _plain(said)
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type_name(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"array of {_type_name(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _wants_null(said: Any) -> bool:
    schema = _plain(said)
    if "anyOf" in schema:
        return any(map(_wants_null, schema["anyOf"]))
    return schema.get("type", "null") == "null" and None in schema.get("enum", (None,))


def _fit(value: Any, said: Any) -> Any:
    schema = _plain(said)
    if "anyOf" in schema:
        return _fit_any(value, schema)
    if schema.get("type") == "array":
        return _fit_array(value, schema)
    fit_type = _FITS.get(schema.get("type", ""))
    fitted = fit_type(value) if fit_type else value
    if "enum" in schema and fitted not in schema["enum"]:
        raise _Misfit(f"must be one of {_type_name(schema)}")
    _check_limits(fitted, schema)
    return fitted


def _fit_any(value: Any, schema: Mapping[str, Any]) -> Any:
    fitted = []
    for option in schema["anyOf"]:
        with suppress(_Misfit):
            fitted.append(_fit(value, option))
    if not fitted:
        raise _Misfit(f"must be {_type_name(schema)}")
    # What needed no mending wins: for `str | int` a number stays a number.
    untouched = (each for each in fitted if type(each) is type(value) and each == value)
    return next(untouched, fitted[0])


def _fit_array(value: Any, schema: Mapping[str, Any]) -> list[Any]:
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, list):
        raise _Misfit(f"must be an {_type_name(schema)}")
    return [_fit(item, schema.get("items", {})) for item in value]


def _check_limits(value: Any, schema: Mapping[str, Any]) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low = _limit(schema.get("minimum"), -math.inf)
    high = _limit(schema.get("maximum"), math.inf)
    if not low <= value <= high:
        raise _Misfit(f"must be between {low} and {high}")


def _limit(said: Any, otherwise: float) -> float:
    return said if isinstance(said, int | float) and not isinstance(said, bool) else otherwise


def _fit_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise _Misfit("must be a string; send structured content as one JSON-encoded string")


def _fit_integer(value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _Misfit("must be an integer")


def _fit_number(value: Any) -> float:
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise _Misfit("must be a number")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def _fit_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise _Misfit("must be true or false")


def _fit_object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, Mapping):
        raise _Misfit("must be an object")
    return value


def _fit_null(value: Any) -> None:
    if value is not None:
        raise _Misfit("must be null")


_FITS: Mapping[str, Callable[[Any], Any]] = {
    "string": _fit_string,
    "integer": _fit_integer,
    "number": _fit_number,
    "boolean": _fit_boolean,
    "object": _fit_object,
    "null": _fit_null,
}
