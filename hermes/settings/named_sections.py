"""What sections of config.yaml have in common whose names the user makes up: servers, agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings.kinds import Kind, read_as
from hermes.settings.words import Words


def read_fields(said: Mapping[Any, Any], fields: Mapping[str, Kind], source: str) -> dict[str, Any]:
    """What is said of one of them, checked; what is empty counts as not said."""
    values = {}
    for field, value in said.items():
        if field not in fields:
            raise SettingsError(source, Words("an unknown key"), ", ".join(fields))
        if value is not None and value != "":
            values[field] = read_as(fields[field], value, key=f"{source}.{field}")
    return values


def sections_of(said: object) -> list[Mapping[Any, Any]]:
    """Each of them, as far as they are sections; the whole need not be valid."""
    values = said.values() if isinstance(said, Mapping) else ()
    return [value for value in values if isinstance(value, Mapping)]
