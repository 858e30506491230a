"""Door: what the gateway that serves this home says of itself."""

from __future__ import annotations

import os
from typing import Any

from hermes.settings.paths import home, status_file
from hermes.settings.runtime_status import read_status, write_status


def read_runtime_status() -> dict[str, Any] | None:
    """The status last written, or None when there is none to be read."""
    return read_status(status_file(home(os.environ)))


def write_runtime_status(**fields: Any) -> None:
    """Change the given fields of the status; the others stay."""
    write_status(status_file(home(os.environ)), **fields)
