"""Files as they are now: their state, and the bytes that would bring it back."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from typing import NamedTuple

from hermes.core.changes import FileState
from hermes.core.shadow import Entry, Stamp
from hermes.shadow.scanning import stamp_of

_RACY_NS = 100_000_000
"""File systems tell the time in ticks of a few milliseconds."""
_COARSELY_RACY_NS = 2_000_000_000
"""And some of them in seconds, or two."""
_SECOND_NS = 1_000_000_000
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_NOT_FOLLOWED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Read(NamedTuple):
    """A file and its content; None where that is too large, not readable or of a folder."""

    entry: Entry
    content: bytes | None


def is_settled(entry: Entry) -> bool:
    """Whether an equal stamp later means an equal content.

    A file that was written just before it was read may be written again within the same tick of
    the file system's clock, and its stamp would not show that. The time of the last change of the
    inode is looked at, because no program can set it.
    """
    if stat.S_ISDIR(entry.stamp.mode):
        return True
    is_coarse = entry.stamp.ctime_ns % _SECOND_NS == 0
    slack = _COARSELY_RACY_NS if is_coarse else _RACY_NS
    return entry.read_at_ns - entry.stamp.ctime_ns > slack


def look(path: str, max_bytes: int, *, folder: int | None = None) -> Read | None:
    """What is at `path` (relative to an opened `folder`, if there is one); None: nothing we keep.

    A link is itself, never what it leads to.
    """
    try:
        stamp = stamp_of(os.stat(path, dir_fd=folder, follow_symlinks=False))
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise
    return None if stamp is None else read(path, stamp, max_bytes, folder=folder)


def read(path: str, stamp: Stamp, max_bytes: int, *, folder: int | None = None) -> Read | None:
    """The file with this stamp; None when it is gone."""
    read_at = time.time_ns()
    if stat.S_ISDIR(stamp.mode):
        return Read(_entry(stamp, read_at, None, is_folder=True), None)
    try:
        if stat.S_ISLNK(stamp.mode):
            target = os.fsencode(os.readlink(path, dir_fd=folder))
            return Read(_entry(stamp, read_at, target, is_link=True), target)
        if stamp.size > max_bytes:
            return Read(_entry(stamp, read_at, None), None)
        found, content = _read_file(path, max_bytes, folder)
        return Read(_entry(found, read_at, content), content)
    except FileNotFoundError:
        return None
    except OSError:  # not ours to read, or replaced by something else meanwhile
        return Read(_entry(stamp, read_at, None), None)


def _read_file(path: str, max_bytes: int, folder: int | None) -> tuple[Stamp, bytes | None]:
    """The stamp and the content that belong together."""
    with os.fdopen(os.open(path, _NOT_FOLLOWED, dir_fd=folder), "rb") as file:
        stamp = stamp_of(os.fstat(file.fileno()))
        if stamp is None or stat.S_ISDIR(stamp.mode):
            raise FileNotFoundError(path)  # it was a file a moment ago
        content = file.read(max_bytes + 1)
    return stamp, content if len(content) <= max_bytes else None


def _entry(
    stamp: Stamp,
    read_at: int,
    content: bytes | None,
    *,
    is_link: bool = False,
    is_folder: bool = False,
) -> Entry:
    state = FileState(
        digest=None if content is None else digest_of(content),
        mode=stat.S_IMODE(stamp.mode),
        size=stamp.size if content is None else len(content),
        is_link=is_link,
        is_folder=is_folder,
    )
    return Entry(stamp, state, read_at)


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
