"""Processes known by a mark in their environment, which they give to all that they start."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass

from hermes.processes.table import PROC


@dataclass(frozen=True, slots=True)
class Mark:
    """A variable that only what was started with it has."""

    variable: str
    value: str

    @property
    def entry(self) -> bytes:
        """As it stands in the environment of a process."""
        return f"{self.variable}={self.value}".encode()


def marked(marks: Iterable[Mark]) -> list[int]:
    """Everybody but ourselves who carries one of these marks. Blocks."""
    entries = frozenset(mark.entry for mark in marks)
    numbers = (int(place.name) for place in PROC.glob("[0-9]*"))
    return [pid for pid in numbers if pid != os.getpid() and carries(pid, entries)]


def carries(pid: int, entries: Set[bytes]) -> bool:
    """Whether a process has one of these entries in its environment, as far as we may look."""
    with suppress(OSError):  # gone meanwhile, or another user's
        environment = (PROC / str(pid) / "environ").read_bytes()
        return not entries.isdisjoint(environment.split(b"\0"))
    return False
