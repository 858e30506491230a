"""The bridge's settings, read from the environment for every request."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hermes.core.errors import SettingsError
from hermes.settings import paths

DEFAULT_COMMAND = "claude"
DEFAULT_TIMEOUT_SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSettings:
    """How a run is to be made."""

    workspace: Path
    command: tuple[str, ...]
    """The CLI, and arguments of the operator's that every run gets."""
    timeout_seconds: float


def read_settings(environ: Mapping[str, str]) -> BridgeSettings:
    """Raises `SettingsError` for a value that is not allowed."""
    return BridgeSettings(
        workspace=read_workspace(environ),
        command=_command(environ),
        timeout_seconds=_timeout(environ),
    )


def read_token(environ: Mapping[str, str]) -> str:
    """The one token that opens the bridge; empty when none is configured."""
    return environ.get("API_BEARER_TOKEN", "").strip()


def read_workspace(environ: Mapping[str, str]) -> Path:
    """The folder the CLI works in; never the folder the server happens to be started in."""
    configured = environ.get("WORKSPACE_DIR", "").strip()
    if configured:
        return Path(configured).expanduser().absolute()
    return paths.default_workspace(paths.home(environ))


def _command(environ: Mapping[str, str]) -> tuple[str, ...]:
    line = environ.get("CLAUDE_COMMAND", "").strip() or DEFAULT_COMMAND
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        allowed = "a command line whose quotes are closed"
        raise SettingsError("CLAUDE_COMMAND", line, allowed) from error


def _timeout(environ: Mapping[str, str]) -> float:
    text = environ.get("BRIDGE_TIMEOUT_SECONDS", "").strip()
    if not text:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise SettingsError("BRIDGE_TIMEOUT_SECONDS", text, "a number of seconds above 0")
    return seconds
