"""Keeping the process's own environment, which may hold keys, away from the tools it runs."""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def hide_process_environment() -> None:
    """Make /proc/<pid>/environ unreadable for processes of the same user (Linux; not for root).

    A command that an agent runs has a scrubbed environment of its own, but could otherwise read
    its parent's. Elsewhere there is no such file, and nothing to do.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
