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


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSettings:
    """How runs are to be made."""

    workspace: Path
    command: tuple[str, ...] = (DEFAULT_COMMAND,)
    """The CLI, and arguments of the operator's that every run gets."""
    timeout_seconds: float = 900.0
    """For the answer to a chat."""
    execute_timeout_seconds: float = 2700.0
    """The most that a job may ask for, and what it gets if it does not ask."""
    max_budget_usd: float = 5.0
    """The most that a run may cost; a job may ask for less."""
    max_concurrency: int = 1
    max_queue_depth: int = 0
    queue_timeout_seconds: float = 600.0
    job_ttl_seconds: float = 3600.0
    """How long a finished job can be asked for."""
    has_streaming: bool = False


def read_settings(environ: Mapping[str, str]) -> BridgeSettings:
    """Raises `SettingsError` for a value that is not allowed."""
    return BridgeSettings(
        workspace=read_workspace(environ),
        command=_command(environ),
        timeout_seconds=_seconds(environ, "BRIDGE_TIMEOUT_SECONDS", 900.0),
        execute_timeout_seconds=_seconds(environ, "EXECUTE_TIMEOUT_SECONDS", 2700.0),
        max_budget_usd=_positive(environ, "BRIDGE_MAX_BUDGET_USD", 5.0, "an amount above 0"),
        max_concurrency=_count(environ, "MAX_CONCURRENCY", 1, least=1),
        max_queue_depth=_count(environ, "MAX_QUEUE_DEPTH", 0, least=0),
        queue_timeout_seconds=_seconds(environ, "QUEUE_TIMEOUT_SECONDS", 600.0),
        job_ttl_seconds=_seconds(environ, "JOB_TTL_SECONDS", 3600.0),
        has_streaming=_is_on(environ, "BRIDGE_STREAMING"),
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


def _seconds(environ: Mapping[str, str], name: str, default: float) -> float:
    return _positive(environ, name, default, "a number of seconds above 0")


def _positive(environ: Mapping[str, str], name: str, default: float, allowed: str) -> float:
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise SettingsError(name, text, allowed)
    return value


def _count(environ: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise SettingsError(name, text, f"a whole number, {least} or more")
    return int(text)


def _is_on(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text in ("", "0", "false", "no", "off"):
        return False
    if text in ("1", "true", "yes", "on"):
        return True
    raise SettingsError(name, text, "1 or 0")
