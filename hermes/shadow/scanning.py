"""What is in a workspace, by names and stamps alone: nothing is opened, no link is followed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection
from dataclasses import dataclass

from hermes.core.shadow import Stamp

SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        ".venv",
        "venv",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".nox",
        ".cache",
        ".gradle",
        ".terraform",
    }
)
"""Large, made by programs, and made again by them: neither looked at nor restored."""

_LARGEST_INODE = (1 << 63) - 1
_TELLING = 0o170000 | 0o7777
"""Type and permissions."""


class TooMuch(Exception):
    """A workspace cannot be compared before and after a command; the message says why."""

    def __init__(self, why: str, *, is_lasting: bool = True) -> None:
        super().__init__(why)
        self.is_lasting = is_lasting
        """Whether it will be the same the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    max_files: int = 20_000
    max_bytes: int = 200_000_000
    """Of all files that are not too large to be kept."""
    max_file_bytes: int = 10_000_000
    """A larger file is noted, but its content is not kept."""
    seconds: float = 2.0
    """For the first look at a workspace, which reads every file."""


class Deadline:
    """When a look at a workspace is given up."""

    def __init__(self, seconds: float | None) -> None:
        """None: never."""
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        if self._end is not None and time.monotonic() > self._end:
            raise TooMuch(
                f"Reading the workspace took longer than {self._seconds:g} seconds. What was read "
                "is kept, so that a later command finds it read.",
                is_lasting=False,
            )


def scan(
    root: str, limits: Limits, *, excluded: Collection[str] = (), deadline: Deadline
) -> dict[str, Stamp]:
    """Every file, link and folder below `root`, by its path relative to it."""
    found: dict[str, Stamp] = {}
    kept_bytes = 0
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        deadline.check()
        for name, stamp in _entries(f"{root}/{folder}"):
            path = folder + name
            if stat.S_ISDIR(stamp.mode):
                if name in SKIPPED_FOLDERS or f"{root}/{path}" in excluded:
                    continue
                waiting.append(f"{path}/")
            elif stamp.size <= limits.max_file_bytes:
                kept_bytes += stamp.size
            found[path] = stamp
        _refuse_too_much(len(found), kept_bytes, limits)
    return found


def _refuse_too_much(files: int, kept_bytes: int, limits: Limits) -> None:
    if files > limits.max_files:
        raise TooMuch(
            f"The workspace has more than {limits.max_files:,} files "
            "(the operator's setting is receipts.max_files)."
        )
    if kept_bytes > limits.max_bytes:
        raise TooMuch(
            f"The files of the workspace have more than {limits.max_bytes:,} bytes "
            "(the operator's setting is receipts.max_workspace_bytes)."
        )


def _entries(folder: str) -> list[tuple[str, Stamp]]:
    """Names and stamps; nothing of a folder that vanished or may not be read."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                stamp = _stamp_of_entry(entry)
                if stamp is not None:
                    found.append((entry.name, stamp))
    except OSError:
        return found
    return found


def _stamp_of_entry(entry: os.DirEntry[str]) -> Stamp | None:
    try:
        return stamp_of(entry.stat(follow_symlinks=False))
    except OSError:  # it vanished just now
        return None


def stamp_of(status: os.stat_result) -> Stamp | None:
    """None for pipes, sockets and devices, which have no content."""
    mode = status.st_mode & _TELLING
    if stat.S_ISDIR(mode):
        # The times of a folder tell of what is in it, which is looked at anyway.
        return Stamp(mode, 0, 0, 0, 0)
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        return None
    return Stamp(
        mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino & _LARGEST_INODE,
    )
