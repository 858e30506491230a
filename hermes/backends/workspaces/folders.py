"""Folders of our own: made for us alone, removed whatever was done to them. Blocking."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


def make_private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def remove_tree(folder: Path) -> None:
    """Remove it with all that is in it; links are removed, never followed."""
    for path, _, _ in os.walk(folder):
        # A folder may have been made read-only, and would keep what is in it. Top down: what
        # cannot be entered is opened before it is walked.
        _open_folders(path)
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _open_folders(path: str) -> None:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                Path(entry.path).chmod(0o700)


def set_aside(folder: Path, kept: Path, name: str) -> Path:
    """Move it to a place of its own below `kept`, where nobody clears it away."""
    make_private(kept)
    taken = {path.name for path in kept.iterdir()}
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    free = next(wanted for wanted in (name, *numbered) if wanted not in taken)
    return Path(shutil.move(folder, kept / free))
