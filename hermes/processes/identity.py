"""Which process it is: numbers are used again, so its birth and the machine's belong to it."""

from __future__ import annotations

import os
from functools import cache

from hermes.processes.table import PROC, look_at


def identity(pid: int) -> str:
    """A line that no other process will ever have, as far as the system tells."""
    process = look_at(pid)
    return f"{_boot()} {pid} {'unknown' if process is None else process.born}"


def is_alive(text: str) -> bool:
    """Whether the process with this identity still runs; a line that is none belongs to nobody."""
    try:
        pid = int(text.split()[1])
        os.kill(pid, 0)
    except (ValueError, IndexError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return False  # somebody else has its number now
    return identity(pid) == text


@cache
def _boot() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"
