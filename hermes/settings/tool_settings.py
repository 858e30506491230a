"""What the tools that run commands may use, and what is kept of long output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    sandbox: Literal["local", "bubblewrap"] = "local"
    """What commands and Python code run in; `local` is no sandbox at all."""
    sandbox_network: bool = False
    sandbox_paths: tuple[str, ...] = ()
    """Further places that the sandbox shows, read-only."""
    max_background: int = 16
    """Commands that one session may have in the background; 0: none."""
    python_memory_mb: int = 2048
    keep_outputs_hours: int = 24
    keep_outputs_mb: int = 256
    """0: what is cut is gone."""
