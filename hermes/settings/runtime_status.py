"""What the running gateway says of itself in a file, so that other processes can read it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hermes.settings.paths import ensure_private_dir


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeStatus:
    gateway_state: str | None = None
    """starting, running, draining or stopped."""
    platforms: Mapping[str, Any] = field(default_factory=dict)
    active_agents: int = 0
    pid: int = field(default_factory=os.getpid)
    exit_reason: str | None = None
    updated_at: str = ""
    """ISO 8601, UTC."""


def read_status(path: Path) -> dict[str, Any] | None:
    """The status last written; None when there is none or it is no longer readable."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def write_status(path: Path, **changes: Any) -> None:
    """Change the given fields; the others keep what this process wrote before.

    Readers see the old file or the new one, never a half. An unknown field is a TypeError.
    """
    status = replace(_own_status(path), **{"updated_at": _now(), **changes})
    _replace_file(path, json.dumps(asdict(status)))


def _own_status(path: Path) -> RuntimeStatus:
    found = read_status(path)
    if found is None or found.get("pid") != os.getpid():
        return RuntimeStatus()
    known = {item.name for item in fields(RuntimeStatus)}
    return RuntimeStatus(**{name: value for name, value in found.items() if name in known})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _replace_file(path: Path, text: str) -> None:
    ensure_private_dir(path.parent)
    # mkstemp gives the file to its owner alone (0600), and the rename keeps that.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
