"""Keys that config.yaml does not hold itself: it names the variables that do."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.found import Found, Layer
from hermes.settings.kinds import read_as
from hermes.settings.words import Words


def held(holder: Found, key: Found | None, environ: Mapping[str, str]) -> Found:
    """What stands in the variable that `holder` names, or in all of them where it names several."""
    if key is not None:
        raise SettingsError(holder.source, Words("both it and the key itself"), "one of the two")
    if isinstance(holder.value, str):
        return Found(_value(holder.value, holder.source, environ), holder.source)
    values = (_value(name, holder.source, environ) for name in holder.value)
    return Found(tuple(dict.fromkeys(values)), holder.source)


def refuse_two_ways(section: str, wish: Layer) -> None:
    """One key or several keys: what would the one be beside the others?"""
    several = wish.get(f"{section}.api_keys")
    if several is not None and f"{section}.api_key" in wish:
        raise SettingsError(
            several.source, Words("both it and a single key"), "one of the two; list all the keys"
        )


def named_variables(said: object) -> set[str]:
    """The variables a holder names, which need not be valid."""
    names = said if isinstance(said, list | tuple) else str(said or "").split(",")
    return {str(name).strip() for name in names if str(name).strip()}


def _value(variable: str, source: str, environ: Mapping[str, str]) -> str:
    text = environ.get(variable, "").strip()
    if not text:
        # Without the name: a key pasted in its place would end up in the error.
        raise SettingsError(source, Words("a variable that is not set"), "one that holds the key")
    return str(read_as(kinds.KEY, text, key=source))
