"""Further keys under names of their own: the section `server.keys` of config.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from hermes.core.budgets import NO_BUDGETS
from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.budget_options import read_key_budgets
from hermes.settings.kinds import Kind, read_as
from hermes.settings.model import ListenerSettings, NamedKey
from hermes.settings.words import NOTHING, Words, kind_of

KEYS = "server.keys"
MAIN = "default"
"""Who sends `server.key`."""
NOBODY = "local"
"""Who sends nothing, where no key is required."""

_NAME = re.compile(r"[a-z0-9_-]{1,40}")
_FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        "key": kinds.KEY,
        "key_env": kinds.VARIABLE,
        "max_concurrent": kinds.whole_number(0, 1_000_000),
        "toolsets": kinds.TOOLSETS,
        "budget": kinds.SECTION,
    }
)


def read_keys(
    said: Mapping[Any, Any] | None, environ: Mapping[str, str], source: str
) -> tuple[NamedKey, ...]:
    """The keys in the order of the section, which `source` names in errors."""
    return tuple(_named_key(name, value, environ, source) for name, value in (said or {}).items())


def refuse_shared_keys(listener: ListenerSettings) -> None:
    """Whose request is it, when two names have the same key?"""
    names = {listener.key: "server.key"} if listener.key else {}
    for named in listener.keys:
        if named.key in names:
            raise SettingsError(
                f"{KEYS}.{named.name}",
                Words(f"the same key as {names[named.key]}"),
                "a key of its own",
            )
        names[named.key] = f"{KEYS}.{named.name}"


def key_holders(said: object) -> set[str]:
    """The variables that the section names as holders of keys. It need not be valid."""
    return {str(value["key_env"]).strip() for value in _sections(said) if value.get("key_env")}


def holds_key(said: object) -> bool:
    return any(value.get("key") for value in _sections(said))


def limit_per_owner(keys: Iterable[NamedKey], max_per_key: int) -> Callable[[str], int]:
    """How many turns the key of this name may have at work; 0: no limit."""
    own = {key.name: key.max_concurrent for key in keys if key.max_concurrent is not None}
    return lambda owner: own.get(owner, max_per_key)


def toolsets_of(keys: Iterable[NamedKey], owner: str) -> tuple[str, ...] | None:
    """What the key of this name may use; None: everything that the agent may."""
    return next((key.toolsets for key in keys if key.name == owner), None)


def _sections(said: object) -> list[Mapping[Any, Any]]:
    values = said.values() if isinstance(said, Mapping) else ()
    return [value for value in values if isinstance(value, Mapping)]


def _named_key(name: Any, said: Any, environ: Mapping[str, str], section: str) -> NamedKey:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (MAIN, NOBODY):
        # Without the name: a key pasted in its place would end up in the error.
        raise SettingsError(
            section,
            Words("a name that no key can have"),
            f"names of up to 40 of a-z, 0-9, _ and -, but not {MAIN} or {NOBODY}",
        )
    source = f"{section}.{name}"
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(_FIELDS))
    values = _values(said, source)
    key = _key(values.pop("key", None), values.pop("key_env", None), environ, source)
    own = values.pop("budget", None)
    budgets = NO_BUDGETS if own is None else read_key_budgets(own, f"{source}.budget")
    return NamedKey(name=name, key=key, budgets=budgets, **values)


def _values(said: Mapping[Any, Any], source: str) -> dict[str, Any]:
    for field in said:
        if field not in _FIELDS:
            raise SettingsError(source, Words("an unknown key"), ", ".join(_FIELDS))
    return {
        field: read_as(_FIELDS[field], value, key=f"{source}.{field}")
        for field, value in said.items()
        if value is not None and value != ""
    }


def _key(key: str | None, holder: str | None, environ: Mapping[str, str], source: str) -> str:
    if key is not None and holder is not None:
        raise SettingsError(source, Words("both key and key_env"), "one of the two")
    if key is not None:
        return key
    if holder is None:
        raise SettingsError(source, NOTHING, "key, or key_env with the variable that holds it")
    text = environ.get(holder, "").strip()
    if not text:
        # Without the name, as above.
        raise SettingsError(
            f"{source}.key_env", Words("a variable that is not set"), "one that holds the key"
        )
    return str(read_as(kinds.KEY, text, key=f"{source}.key_env"))
