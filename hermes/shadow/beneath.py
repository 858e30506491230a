"""Folders below a root, opened step by step so that no link can lead out of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NotBeneath(Exception):
    """On the way to a file there is a link, or something else that is no folder."""


@contextmanager
def parent_of(root: str, path: str, *, is_made: bool = False) -> Iterator[int | None]:
    """The opened folder of `root/path`; None when there is none. `is_made`: make it, 0700.

    Raises `NotBeneath`.
    """
    descriptor: int | None = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in path.split("/")[:-1]:
            above, descriptor = descriptor, None  # it is closed, whatever happens
            descriptor = _entered(above, name, is_made=is_made)
            if descriptor is None:
                break
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _entered(folder: int | None, name: str, *, is_made: bool) -> int | None:
    """The folder in `folder`, which is closed."""
    assert folder is not None
    try:
        if is_made:
            _make(folder, name)
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise NotBeneath(name) from error
        raise
    finally:
        os.close(folder)


def _make(folder: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return
