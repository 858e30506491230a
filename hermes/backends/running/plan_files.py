"""The files that a plan wants to be there: for the owner only, and in the job's places only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hermes.backends.errors import CommandFailed
from hermes.backends.jobs import Places
from hermes.private_files import create_file, create_folders


def write_files(files: Mapping[Path, bytes], places: Places) -> None:
    """Blocks. Raises `CommandFailed`."""
    for path, content in files.items():
        try:
            _write(path, content, places)
        except OSError as error:
            raise CommandFailed(f"{path.name} could not be written: {error.strerror}") from error


def _write(path: Path, content: bytes, places: Places) -> None:
    create_folders(path.parent)
    # A job may have left links in a home that is used again; they must not lead us out of it.
    folder = path.parent.resolve()
    roots = (places.home, places.scratch, places.workspace)
    if not any(folder.is_relative_to(root.resolve()) for root in roots):
        raise CommandFailed(f"{path} leads out of the job's folders")
    path.unlink(missing_ok=True)
    create_file(path, content)
