"""A file for each thing that runs, which says what process looks after it.

Whoever comes after a process that died finds its notes, and knows what it has left behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes.private_files import create_file
from hermes.processes.identity import identity, is_alive


class Notes:
    """Safe to use from any thread, and from several processes with one folder. Blocks."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def write(self, name: str) -> None:
        """Note that this process looks after `name`. Raises `OSError`."""
        create_file(self._folder() / name, identity(os.getpid()).encode())

    def remove(self, name: str) -> None:
        with suppress(OSError):  # it could not be written, or somebody else has removed it
            (self._folder() / name).unlink()

    def names(self) -> list[str]:
        return [note.name for note in self._folder().glob("*")]

    def orphaned(self) -> list[str]:
        """What nobody looks after any more."""
        return [name for name in self.names() if not is_alive(self._read(name))]

    def _read(self, name: str) -> str:
        """A note that was cut short belongs to a process that died while writing it."""
        try:
            return (self._folder() / name).read_text(errors="replace")
        except OSError:
            return ""  # what it was about has just ended
