"""The listener of an embedded API server: its config, then the environment, then defaults.

Embedders must not fail on a foreign environment, so a port there that is none is passed over;
`hermes serve` refuses it instead (see `hermes.settings.loading`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hermes.settings.budget_options import key_budgets_section
from hermes.settings.kinds import read_as
from hermes.settings.model import ListenerSettings, NamedKey
from hermes.settings.named_keys import read_keys, refuse_shared_keys
from hermes.settings.options import OPTIONS

_FROM_ENVIRONMENT = ("host", "port", "key", "cors_origins", "model_name")
_MAY_BE_EMPTY = ("key", "model_name")


def listener_from(extra: Mapping[str, Any], environ: Mapping[str, str]) -> ListenerSettings:
    """What stands in `extra` wins, even an empty key; a wrong value there is a SettingsError."""
    said = {**listener_variables(environ), **_listener_extra(extra, environ)}
    listener = ListenerSettings(**said)
    refuse_shared_keys(listener)
    return listener


def as_extra(listener: ListenerSettings) -> dict[str, Any]:
    """The `extra` from which `listener_from` makes the same listener in any environment."""
    keys = {named.name: _as_section(named) for named in listener.keys}
    return {**asdict(listener), "keys": keys}


def _as_section(named: NamedKey) -> dict[str, Any]:
    return {
        "key": named.key,
        "max_concurrent": named.max_concurrent,
        "toolsets": named.toolsets,
        "budget": key_budgets_section(named.budgets) or None,
    }


def listener_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """What the API_SERVER_* variables say of the listener; a port that is none is left out."""
    found: dict[str, Any] = {}
    for field in _FROM_ENVIRONMENT:
        option = OPTIONS[f"listener.{field}"]
        text = environ.get(option.env, "").strip()
        if text and (field != "port" or _is_port(text)):
            found[field] = read_as(option.kind, text, key=option.env)
    return found


def _is_port(text: str) -> bool:
    try:
        OPTIONS["listener.port"].kind.read(text)
    except ValueError:
        return False
    return True


def _listener_extra(extra: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    known = asdict(ListenerSettings())
    return {
        field: _read(field, value, environ)
        for field, value in extra.items()
        if field in known and value is not None
    }


def _read(field: str, value: Any, environ: Mapping[str, str]) -> Any:
    if value == "" and field in _MAY_BE_EMPTY:
        return ""
    source = f"extra[{field!r}]"
    read = read_as(OPTIONS[f"listener.{field}"].kind, value, key=source)
    return read_keys(read, environ, source) if field == "keys" else read
