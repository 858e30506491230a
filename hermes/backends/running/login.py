"""Lends a CLI's login to a job, and takes it back: a copy in the job's home, gone afterwards.

A CLI may renew its login while it runs, which makes the old one worthless. So a renewed copy is
put where the original was, unless somebody else has renewed that meanwhile. Everything blocks.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from hermes.private_files import create_file, replace_file

MOST_BYTES = 1024 * 1024
"""A login is small; whatever is bigger is something else."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loan:
    """One file of a login, as it was when it was lent."""

    original: Path
    home: Path
    """The job's."""
    copy: Path
    content: bytes = field(repr=False)


def lend(files: Iterable[str], *, users_home: Path, job_home: Path) -> tuple[Loan, ...]:
    """Copy those files (relative to both homes) that are there. Raises `OSError`."""
    loans = []
    for name in files:
        original, copy = users_home / name, job_home / name
        content = _read(original)
        if content is None or not _is_inside(copy, job_home):
            continue
        copy.unlink(missing_ok=True)
        create_file(copy, content)
        loans.append(Loan(original, job_home, copy, content))
    return tuple(loans)


def take_back(loans: Iterable[Loan]) -> None:
    """After the job: keep what was renewed, and leave no copy in its home. Never raises."""
    for loan in loans:
        try:
            # A job could have put a link in the way that leads to the original itself.
            if _is_inside(loan.copy, loan.home):
                _keep_if_renewed(loan)
                loan.copy.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("a login that was lent could not be taken back: %s", error.strerror)


def _keep_if_renewed(loan: Loan) -> None:
    renewed = _read(loan.copy, follow=False)
    if renewed is None or renewed == loan.content:
        return
    if not _is_like(renewed, loan.content):
        _log.warning("a job has left something else where its login was; it is not kept")
    elif _read(loan.original) == loan.content:
        # Behind a link, the file it leads to is the original.
        replace_file(loan.original.resolve(), renewed)


def _is_like(renewed: bytes, lent: bytes) -> bool:
    """Whether it is a JSON object with all that was in the old one: a job can write anything."""
    try:
        new, old = json.loads(renewed), json.loads(lent)
    except (ValueError, RecursionError):
        return False
    return isinstance(new, dict) and isinstance(old, dict) and old.keys() <= new.keys()


def _is_inside(path: Path, folder: Path) -> bool:
    """A home that is used again may hold links that lead out of it."""
    return path.parent.resolve().is_relative_to(folder.resolve())


def _read(path: Path, *, follow: bool = True) -> bytes | None:
    """The content of a small plain file; None for anything else, links included if not followed."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        return file.read(MOST_BYTES)
