"""How processes are ended that are nobody's children any more: asked first, then killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

POLITE_SECONDS = 0.3
"""Between asking and killing."""
KILLING_SECONDS = 1.0
"""Only a hanging kernel call survives a kill for longer, or somebody who starts others faster."""

_PAUSE = 0.01

Find = Callable[[], Collection[int]]


@dataclass(frozen=True, slots=True)
class Swept:
    """What came of it."""

    found: int
    left: int
    """Who could not be ended."""


def sweep(find: Find, *, polite_seconds: float = POLITE_SECONDS) -> Swept:
    """End whoever `find` finds, until it finds nobody. Blocks; at once where nobody is there."""
    found = find()
    if not found:
        return Swept(0, 0)
    if polite_seconds:
        _signal(found, signal.SIGTERM)
        _until_nobody(find, time.monotonic() + polite_seconds)
    return Swept(len(found), len(_kill(find, time.monotonic() + KILLING_SECONDS)))


def _until_nobody(find: Find, deadline: float) -> None:
    while find() and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _kill(find: Find, deadline: float) -> Collection[int]:
    """Again and again: a process may have started another one before it died."""
    while (left := find()) and time.monotonic() < deadline:
        _signal(left, signal.SIGKILL)
        time.sleep(_PAUSE)
    return left


def _signal(processes: Collection[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
