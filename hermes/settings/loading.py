"""Loads the settings: once, or whenever they changed for code that cannot get them as arguments.

Command line over environment over config.yaml over defaults.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings import layers
from hermes.settings.aliases import alias_holders
from hermes.settings.assembly import Assembly
from hermes.settings.cli_agents import AGENTS, agent_key_holders
from hermes.settings.config_yaml import ConfigFile, read_config
from hermes.settings.documented import DOCUMENTED
from hermes.settings.fallbacks import fallback_holders
from hermes.settings.held_keys import named_variables
from hermes.settings.mcp_servers import SERVERS, server_holders
from hermes.settings.model import NOTHING_SET, Settings
from hermes.settings.named_keys import KEYS, key_holders
from hermes.settings.options import HOLDERS, OPTIONS
from hermes.settings.paths import config_file, home

logger = logging.getLogger(__name__)

_VARIABLES = frozenset({"HOME", *(doc.env for doc in DOCUMENTED if doc.env)})

FileState = tuple[int, int, int] | None


def load_settings(
    *, environ: Mapping[str, str], overrides: Mapping[str, Any] = NOTHING_SET
) -> Settings:
    """Read everything now. Overrides have dotted names (`listener.port`); None means not given."""
    folder = home(environ)
    config = read_config(config_file(folder))
    in_file = layers.file(config, environ)
    said = layers.environment(environ) | layers.command_line(overrides)
    return Assembly(folder, config, in_file, said, environ).settings()


@dataclass(frozen=True, slots=True)
class _Reading:
    """Settings, and what they were read from."""

    settings: Settings
    watched: frozenset[str]
    variables: Mapping[str, str]
    config_path: str
    file_state: FileState


class SettingsSource:
    """Safe to use from any thread. Asking is cheap: nothing is read again unless it changed."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        overrides: Mapping[str, Any] = NOTHING_SET,
    ) -> None:
        self._environ = environ
        self._overrides = overrides
        self._lock = threading.Lock()
        self._reading: _Reading | None = None
        self._look_every = 0.0
        self._look_at = 0.0
        """When it is time to look for changes again."""

    def current(self) -> Settings:
        """What holds now. After a broken edit of config.yaml the settings before it stay."""
        reading = self._reading
        # Asked a dozen times per request, so in as few steps as possible.
        if reading is not None and (time.monotonic() < self._look_at or self._is_fresh(reading)):
            return reading.settings
        with self._lock:
            return self._refreshed().settings

    def pin(self, overrides: Mapping[str, Any], *, look_every: float = 1.0) -> Settings:
        """Let the command line's options win from now on; returns the settings with them.

        A server asks several times per request: from now on changes are looked for only every
        `look_every` seconds.
        """
        with self._lock:
            self._overrides = dict(overrides)
            self._look_every = look_every
            self._reading = None
            return self._refreshed().settings

    def _is_fresh(self, reading: _Reading) -> bool:
        self._look_at = time.monotonic() + self._look_every
        return (
            _values(reading.watched, self._environ) == reading.variables
            and _file_state(reading.config_path) == reading.file_state
        )

    def _refreshed(self) -> _Reading:
        last = self._reading
        if last is None or not self._is_fresh(last):
            self._reading = self._read(last)
        assert self._reading is not None
        return self._reading

    def _read(self, last: _Reading | None) -> _Reading:
        # Looked at before reading: a change in between shows at the next call.
        environ = dict(self._environ)
        config_path = str(config_file(home(environ)))
        file_state = _file_state(config_path)
        try:
            settings = load_settings(environ=environ, overrides=self._overrides)
        except SettingsError as error:
            if last is None or last.variables != _values(last.watched, environ):
                raise
            logger.warning("config.yaml is ignored until it is corrected: %s", error)
            return replace(last, file_state=file_state)
        watched = _VARIABLES | _holders(settings)
        return _Reading(settings, watched, _values(watched, environ), config_path, file_state)


def _values(watched: frozenset[str], environ: Mapping[str, str]) -> dict[str, str]:
    # Through an intersection: looking up a variable that is not set costs os.environ the most.
    return {name: environ.get(name, "") for name in watched.intersection(environ)}


def _holders(settings: Settings) -> set[str]:
    """The variables that config.yaml names as holders of keys."""
    config = ConfigFile(path=config_file(settings.home), content=settings.raw)
    found = (config.value(OPTIONS[name].config) for name in HOLDERS)
    named = {variable for value in found for variable in named_variables(value)}
    listed = key_holders(config.value(KEYS)) | server_holders(config.value(SERVERS))
    listed |= agent_key_holders(config.value(AGENTS))
    return named | alias_holders(config) | fallback_holders(config) | listed


def _file_state(path: str) -> FileState:
    try:
        status = os.stat(path)  # noqa: PTH116  a Path would double the cost of the check
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
