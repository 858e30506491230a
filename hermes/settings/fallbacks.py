"""Who is asked when the provider fails: the section `fallback`, or the list `fallbacks`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings import provider_choice
from hermes.settings.config_yaml import PREFIX, ConfigFile
from hermes.settings.found import Layer
from hermes.settings.model_sections import (
    ENDPOINT_FIELDS,
    read_section,
    section_holders,
    section_holds_key,
)
from hermes.settings.provider_choice import Choice
from hermes.settings.words import Words, kind_of

FALLBACKS = "fallbacks"
_ONE = "fallback"


def read_fallbacks(
    config: ConfigFile, in_file: Layer, first: Choice, environ: Mapping[str, str]
) -> list[Choice]:
    """The chain in its order."""
    one = {name: found for name, found in in_file.items() if name.startswith(f"{_ONE}.")}
    if FALLBACKS in in_file:
        if one:
            raise SettingsError(PREFIX + FALLBACKS, Words("both it and fallback"), "one of the two")
        return list(_listed(config, first, environ))
    return [provider_choice.choose_fallback(_ONE, one, first, environ)] if one else []


def fallback_holders(config: ConfigFile) -> set[str]:
    """The variables that the list names as holders of keys. It need not be valid."""
    return section_holders(_sections(config))


def fallback_holds_key(config: ConfigFile) -> bool:
    return any(section_holds_key(said) for said in _sections(config))


def _listed(config: ConfigFile, first: Choice, environ: Mapping[str, str]) -> Iterator[Choice]:
    for place, said in enumerate(config.value(FALLBACKS), 1):
        section = f"{FALLBACKS}[{place}]"
        if not isinstance(said, Mapping):
            raise SettingsError(
                PREFIX + section, kind_of(said), "a section with " + ", ".join(ENDPOINT_FIELDS)
            )
        wish = read_section(section, said, ENDPOINT_FIELDS, environ)
        yield provider_choice.choose_fallback(section, wish, first, environ)


def _sections(config: ConfigFile) -> list[Mapping[str, Any]]:
    found = config.value(FALLBACKS)
    return [said for said in found if isinstance(said, Mapping)] if isinstance(found, list) else []
