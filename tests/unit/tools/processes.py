"""Looking at processes of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process still does anything; a zombie waiting for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        os.sched_yield()
    return condition()


def pids_in(folder: Path) -> list[int]:
    """Those that a command under test has written down."""
    try:
        return [int(pid) for pid in (folder / "pids").read_text().split()]
    except FileNotFoundError:
        return []
