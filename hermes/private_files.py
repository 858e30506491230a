"""Writing files so that nobody ever sees half of one, and folders that only the owner can enter."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from hermes.core.ids import new_id


def create_folders(folder: Path) -> None:
    """Make the folder and its missing parents, each 0700; existing ones are left as they are."""
    for each in reversed((folder, *folder.parents)):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


def create_file(target: Path, content: bytes) -> None:
    """A new file that only the owner can read, in folders that only the owner can enter."""
    create_folders(target.parent)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def replace_file(target: Path, content: bytes) -> None:
    """Put `content` in place of `target` in one step. Keeps mode and owner; a new file is 0600."""
    draft = target.parent / new_id(".draft-")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _take_over(file.fileno(), target)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _take_over(descriptor: int, target: Path) -> None:
    with suppress(FileNotFoundError):
        status = target.stat()
        # Only root may give files away; for everyone else the owner is the same already.
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
