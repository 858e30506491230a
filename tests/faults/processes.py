"""A process seen from outside, through /proc: its threads, its children, its memory."""

from __future__ import annotations

from pathlib import Path


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def children(pid: int) -> set[int]:
    """The process ids of all descendants that still run."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in _children_of(task):
            found |= {child, *children(child)} if Path(f"/proc/{child}").exists() else set()
    return found


def _children_of(task: Path) -> list[int]:
    try:
        return [int(child) for child in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []  # it ended while we looked


def memory(pid: int) -> int:
    """Bytes in use."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
