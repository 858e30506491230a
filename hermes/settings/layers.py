"""The three ways in, each read into a layer of checked values: command line, environment, file.

A layer maps the name of an option to what was found and where. Laying one over the other is a
dict union, so the precedence is visible where it is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import PREFIX, ConfigFile, check_keys
from hermes.settings.found import Found, Layer
from hermes.settings.held_keys import held, refuse_two_ways
from hermes.settings.kinds import read_as
from hermes.settings.options import HOLDERS, OPTIONS
from hermes.settings.words import Words


def command_line(overrides: Mapping[str, Any]) -> Layer:
    """What the options of a command say; None means that the option was not given."""
    layer: Layer = {}
    for name, value in overrides.items():
        option = OPTIONS.get(name)
        if option is None:
            close = get_close_matches(name, OPTIONS, n=1)
            raise SettingsError(name, Words("an unknown override"), ", ".join(close or OPTIONS))
        if value is not None:
            layer[name] = Found(read_as(option.kind, value, key=option.flag), option.flag)
    return layer


def environment(environ: Mapping[str, str]) -> Layer:
    """What the variables say; an empty one counts as unset."""
    layer: Layer = {}
    for name, option in OPTIONS.items():
        text = environ.get(option.env, "").strip() if option.env else ""
        if text:
            layer[name] = Found(read_as(option.kind, text, key=option.env), option.env)
    return layer


def file(config: ConfigFile, environ: Mapping[str, str]) -> Layer:
    """What config.yaml says, with keys fetched from the variables it names; empty is unset."""
    check_keys(config.content)
    layer: Layer = {}
    for name, option in OPTIONS.items():
        value = config.value(option.config)
        if value is not None and value != "":
            source = PREFIX + option.config
            layer[name] = Found(read_as(option.kind, value, key=source), source)
    for holder, target in HOLDERS.items():
        if holder in layer:
            layer[target] = held(layer[holder], layer.get(target), environ)
    for section in ("agent", "fallback"):
        refuse_two_ways(section, layer)
    return layer
