"""The name of the active profile, for code that must get one whatever state config.yaml is in."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import read_config
from hermes.settings.kinds import read_as
from hermes.settings.options import OPTIONS
from hermes.settings.paths import config_file, home

DEFAULT_PROFILE = "default"


def active_profile(environ: Mapping[str, str]) -> str:
    """`HERMES_PROFILE`, else `profile` in config.yaml, else "default". Never raises."""
    option = OPTIONS["profile"]
    try:
        wanted = environ.get(option.env) or read_config(config_file(home(environ))).value("profile")
        return str(read_as(option.kind, wanted, key=option.config)) if wanted else DEFAULT_PROFILE
    except SettingsError:
        # `hermes serve` and `hermes doctor` report the broken file; here a name will do.
        return DEFAULT_PROFILE
