"""Values as TOML, for settings that are given in one line. Written only; nothing is read."""

from __future__ import annotations

import json
from collections.abc import Mapping

Value = bool | int | str | Mapping[str, "Value"]


def inline(value: Value) -> str:
    """`value` as it may stand behind an equals sign."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return quoted(value)
        case Mapping():
            inner = (f"{quoted(name)}={inline(part)}" for name, part in value.items())
            return "{" + ",".join(inner) + "}"


def quoted(text: str) -> str:
    """A basic string. JSON writes the same, but for DEL, which only TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
