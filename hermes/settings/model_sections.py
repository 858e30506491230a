"""A section of config.yaml that describes one model: of `models`, or of `fallbacks`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import PREFIX
from hermes.settings.found import Found, Layer
from hermes.settings.held_keys import held, named_variables, refuse_two_ways
from hermes.settings.kinds import Kind, read_as
from hermes.settings.options import OPTIONS
from hermes.settings.words import Words

_ENDPOINT = (
    "provider",
    "model",
    "base_url",
    "api_key",
    "api_keys",
    "key_strategy",
    "api_mode",
    "headers",
    "context_window",
)
_HOLDERS = {"api_key_env": "api_key", "api_keys_env": "api_keys"}

ENDPOINT_FIELDS: Mapping[str, Kind] = MappingProxyType(
    {field: OPTIONS[f"agent.{field}"].kind for field in (*_ENDPOINT, *_HOLDERS)}
)
"""What may be said of where a model is."""


def read_section(
    section: str,
    said: Mapping[str, Any],
    fields: Mapping[str, Kind],
    environ: Mapping[str, str],
) -> Layer:
    """What is said, checked; keys are fetched from the variables that hold them."""
    wish: Layer = {}
    for field, value in said.items():
        source = f"{PREFIX}{section}.{field}"
        if field not in fields:
            raise SettingsError(source, Words("an unknown key"), ", ".join(fields))
        if value is not None and value != "":
            wish[f"{section}.{field}"] = Found(read_as(fields[field], value, key=source), source)
    for holder, target in _HOLDERS.items():
        found = wish.get(f"{section}.{holder}")
        if found is not None:
            wish[f"{section}.{target}"] = held(found, wish.get(f"{section}.{target}"), environ)
    refuse_two_ways(section, wish)
    return wish


def section_holders(sections: Iterable[Mapping[str, Any]]) -> set[str]:
    """The variables that hold keys of these sections. They need not be valid."""
    return {
        variable
        for said in sections
        for holder in _HOLDERS
        for variable in named_variables(said.get(holder))
    }


def section_holds_key(said: Mapping[str, Any]) -> bool:
    return any(said.get(field) for field in ("api_key", "api_keys", "headers"))
