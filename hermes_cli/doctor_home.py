"""Examines the folders and files: home, databases, workspace. Creates and changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from hermes.settings.paths import is_private
from hermes.store.errors import StoreUnusable
from hermes.store.sqlite import explained
from hermes.tools.output import size_text
from hermes_cli.doctor_finding import Finding, ok, problem, warning

TOO_LITTLE_SPACE = 100_000_000
LITTLE_SPACE = 1_000_000_000
_LOCK_SECONDS = 5.0
_MOVE_AWAY = "stop the server, then restore the file from a backup or move it away"


def home_folder(home: Path) -> Finding:
    title = "Home"
    if not home.exists():
        return _missing_folder(title, home)
    unusable = _unusable(title, home)
    if unusable is not None:
        return unusable
    if not is_private(home):
        return warning(title, f"{home} is open to other users", f"chmod 700 {home}")
    return ok(title, f"{home} is yours alone")


def disk_space(home: Path, free: int | None = None) -> Finding:
    """`free` in bytes; looked up when it is not given."""
    title = "Disk"
    if free is None:
        free = shutil.disk_usage(_existing(home)).free
    detail = f"{size_text(free)} free where {home} is"
    if free < TOO_LITTLE_SPACE:
        return problem(title, detail, "free some space: conversations cannot be stored")
    if free < LITTLE_SPACE:
        return warning(title, detail, "free some space before it runs out")
    return ok(title, detail)


def database(title: str, path: Path) -> Finding:
    """Whether SQLite can read the file and finds it whole; opened for reading only."""
    if not path.exists():
        return ok(title, f"{path.name} does not exist yet")
    try:
        with explained(str(path)):
            faults = _faults(path)
    except StoreUnusable as error:
        # Its last sentence is the advice.
        detail, _, fix = str(error).rstrip(".").rpartition(". ")
        return problem(title, detail, fix)
    except sqlite3.Error as error:
        return problem(title, f"{path} cannot be read ({error})", _MOVE_AWAY)
    if faults:
        return problem(
            title,
            f"{path} is damaged: {faults[0]}",
            _MOVE_AWAY,
        )
    if not is_private(path):
        return warning(title, f"{path} can be read by other users", f"chmod 600 {path}")
    return ok(title, f"{path.name} is healthy ({size_text(path.stat().st_size)})")


def workspace(folder: Path) -> Finding:
    title = "Workspace"
    if not folder.exists():
        return _missing_folder(title, folder)
    return _unusable(title, folder) or ok(title, f"the tools work in {folder}")


def _faults(path: Path) -> list[str]:
    # Nobody has it open when there is no log; without locks SQLite then leaves no files behind.
    is_open = path.with_name(path.name + "-wal").exists()
    uri = f"{path.absolute().as_uri()}?{'mode=ro' if is_open else 'immutable=1'}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_LOCK_SECONDS)) as connection:
        rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    return [str(row[0]) for row in rows if row[0] != "ok"]


def _missing_folder(title: str, folder: Path) -> Finding:
    above = _existing(folder)
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return ok(title, f"{folder} does not exist yet; the first start makes it")
    return problem(
        title,
        f"{folder} does not exist and cannot be made in {above}",
        f"make {above} a folder you may write to, or choose another",
    )


def _unusable(title: str, folder: Path) -> Finding | None:
    if not folder.is_dir():
        return problem(title, f"{folder} is not a folder", "move it away or choose another")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return problem(
            title, f"{folder} is not readable and writable for you", f"chmod u+rwx {folder}"
        )
    return None


def _existing(path: Path) -> Path:
    """The path itself, or the closest thing above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())
