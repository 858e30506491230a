"""The processes of this machine as `/proc` shows them; where there is no such folder, nobody."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

_STATE, _PARENT, _SESSION, _BORN = 0, 1, 3, 19  # in /proc/<pid>/stat, counted after the name


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One line of the table."""

    pid: int
    parent: int
    session: int
    born: int
    """In clock ticks since the machine started: with it, a number that is used again is told from
    its first owner."""
    is_over: bool
    """Whether it only waits to be reaped."""


def is_there() -> bool:
    """Whether this system has such a table."""
    return (PROC / "self").exists()


def everybody() -> list[Process]:
    """All that can be seen. Blocks for about a millisecond per hundred processes."""
    seen = (look_at(int(place.name)) for place in PROC.glob("[0-9]*"))
    return [process for process in seen if process is not None]


def look_at(pid: int) -> Process | None:
    """None: there is no process with this number."""
    with suppress(OSError):
        return parse_stat(pid, (PROC / str(pid) / "stat").read_text(errors="replace"))
    return None


def parse_stat(pid: int, line: str) -> Process | None:
    """The name of a process is in brackets and may itself contain anything, brackets included."""
    fields = line.rpartition(")")[2].split()
    try:
        return Process(
            pid=pid,
            parent=int(fields[_PARENT]),
            session=int(fields[_SESSION]),
            born=int(fields[_BORN]),
            is_over=fields[_STATE] in ("Z", "X"),
        )
    except (ValueError, IndexError):
        return None
