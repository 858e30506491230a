"""Files that only their owner can read, whatever the umask."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_OWNER_ONLY_FILE = 0o600
_OWNER_ONLY_DIRECTORY = 0o700
_SIDECARS = ("-wal", "-shm")


def make_private(path: Path) -> None:
    """Create `path` and its missing directories for the owner only; tighten what exists.

    SQLite gives its sidecar files the mode of the database, so it is enough to have this one
    right before SQLite first opens it. Directories that already exist are left as they are.
    """
    _create_directories(path.parent)
    # An existing file is never opened here: closing it again would drop the locks that this
    # process may hold on it through another connection.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY_FILE))
    path.chmod(_OWNER_ONLY_FILE)
    for sidecar in _SIDECARS:
        with suppress(FileNotFoundError):
            path.with_name(path.name + sidecar).chmod(_OWNER_ONLY_FILE)


def open_private(path: Path) -> BinaryIO:
    """A new file to write to, for the owner only."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY_FILE), "wb")


def _create_directories(directory: Path) -> None:
    missing = [place for place in (directory, *directory.parents) if not place.exists()]
    for place in reversed(missing):
        with suppress(FileExistsError):
            place.mkdir()
            place.chmod(_OWNER_ONLY_DIRECTORY)
