"""The `models` section of config.yaml: more models, each under a name that clients may ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings import kinds, provider_choice
from hermes.settings.config_yaml import MODELS, PREFIX, ConfigFile
from hermes.settings.kinds import Kind, read_as
from hermes.settings.layers import Found, Layer
from hermes.settings.model import AliasSettings
from hermes.settings.options import OPTIONS
from hermes.settings.provider_choice import Choice
from hermes.settings.words import Words, kind_of

_ENDPOINT = ("provider", "model", "base_url", "api_key", "api_mode", "headers")
_OWN = ("reasoning_effort", "toolsets", "system_prompt", "vision")

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        **{field: OPTIONS[f"agent.{field}"].kind for field in (*_ENDPOINT, *_OWN)},
        "api_key_env": OPTIONS["agent.api_key_env"].kind,
    }
)
"""What may be said of a model. What is not said is as the agent has it."""


def read_aliases(
    config: ConfigFile, first: Choice, environ: Mapping[str, str]
) -> dict[str, AliasSettings]:
    """Every configured model by its name, in the order of the file."""
    return {name: _alias(name, said, first, environ) for name, said in _sections(config)}


def alias_holders(config: ConfigFile) -> set[str]:
    """The variables that the section names as holders of keys."""
    held = (said.get("api_key_env") for _, said in _sections(config))
    return {str(variable).strip() for variable in held if variable}


def alias_holds_key(config: ConfigFile) -> bool:
    return any(said.get("api_key") or said.get("headers") for _, said in _sections(config))


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
    wish = _wish(section, said, environ)
    choice = provider_choice.choose_alias(section, wish, first, environ)
    own = {
        field: wish[f"{section}.{field}"].value for field in _OWN if f"{section}.{field}" in wish
    }
    return AliasSettings(provider=choice.settings, **own)


def _wish(section: str, said: Mapping[str, Any], environ: Mapping[str, str]) -> Layer:
    """What is said, checked; the key is fetched from the variable that holds it."""
    wish: Layer = {}
    for field, value in said.items():
        source = f"{PREFIX}{section}.{field}"
        if field not in FIELDS:
            raise SettingsError(source, Words("an unknown key"), ", ".join(FIELDS))
        if value is not None and value != "":
            wish[f"{section}.{field}"] = Found(read_as(FIELDS[field], value, key=source), source)
    holder = wish.get(f"{section}.api_key_env")
    if holder is not None:
        wish[f"{section}.api_key"] = _held(holder, wish.get(f"{section}.api_key"), environ)
    return wish


def _held(holder: Found, key: Found | None, environ: Mapping[str, str]) -> Found:
    if key is not None:
        raise SettingsError(holder.source, Words("both it and the key itself"), "one of the two")
    text = environ.get(holder.value, "").strip()
    if not text:
        # Without the name: a key pasted in its place would end up in the error.
        raise SettingsError(
            holder.source, Words("a variable that is not set"), "one that holds the key"
        )
    return Found(read_as(kinds.KEY, text, key=holder.source), holder.source)
