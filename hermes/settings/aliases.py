"""The `models` section of config.yaml: more models, each under a name that clients may ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings import kinds, provider_choice
from hermes.settings.config_yaml import MODELS, PREFIX, ConfigFile
from hermes.settings.kinds import Kind, read_as
from hermes.settings.model import AliasSettings
from hermes.settings.model_sections import (
    ENDPOINT_FIELDS,
    read_section,
    section_holders,
    section_holds_key,
)
from hermes.settings.options import OPTIONS
from hermes.settings.provider_choice import Choice
from hermes.settings.words import kind_of

_OWN = ("reasoning_effort", "toolsets", "system_prompt", "vision")

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {**ENDPOINT_FIELDS, **{field: OPTIONS[f"agent.{field}"].kind for field in _OWN}}
)
"""What may be said of a model. What is not said is as the agent has it."""


def read_aliases(
    config: ConfigFile, first: Choice, environ: Mapping[str, str]
) -> dict[str, AliasSettings]:
    """Every configured model by its name, in the order of the file."""
    return {name: _alias(name, said, first, environ) for name, said in _sections(config)}


def alias_holders(config: ConfigFile) -> set[str]:
    """The variables that the section names as holders of keys."""
    return section_holders(said for _, said in _sections(config))


def alias_holds_key(config: ConfigFile) -> bool:
    return any(section_holds_key(said) for _, said in _sections(config))


def _sections(config: ConfigFile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = config.value(MODELS)
    if found is None:
        return
    if not isinstance(found, Mapping):
        raise SettingsError(PREFIX + MODELS, kind_of(found), "a section with a name for each model")
    for raw, said in found.items():
        name = read_as(kinds.LINE, raw, key=f"{PREFIX}{MODELS}")
        if said is not None and not isinstance(said, Mapping):
            raise SettingsError(
                f"{PREFIX}{MODELS}.{name}", kind_of(said), "a section with " + ", ".join(FIELDS)
            )
        yield name, said or {}


def _alias(
    name: str, said: Mapping[str, Any], first: Choice, environ: Mapping[str, str]
) -> AliasSettings:
    section = f"{MODELS}.{name}"
    wish = read_section(section, said, FIELDS, environ)
    choice = provider_choice.choose_alias(section, wish, first, environ)
    own = {
        field: wish[f"{section}.{field}"].value for field in _OWN if f"{section}.{field}" in wish
    }
    return AliasSettings(provider=choice.settings, **own)
