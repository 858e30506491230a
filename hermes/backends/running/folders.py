"""The folders of jobs and of sessions, for the owner only. Everything here blocks.

<root>/jobs/<job id>/{home,workspace,scratch}    gone when the job is
<root>/sessions/<agent>/<session id>             the CLI's home, as long as its session lasts
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes.backends.jobs import Places
from hermes.private_files import create_folders

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")

_log = logging.getLogger(__name__)


class JobFolders:
    """Safe to use from any thread."""

    def __init__(self, root: Callable[[], Path]) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        return self._root()

    def make(
        self, job_id: str, *, home: Path | None = None, workspace: Path | None = None
    ) -> Places:
        """The places of a job, where others are not given. Raises `OSError`."""
        folder = self._job(job_id)
        places = Places(
            home=home or folder / "home",
            workspace=workspace or folder / "workspace",
            scratch=self.scratch(job_id),
        )
        for place in (places.home, places.workspace, places.scratch):
            create_folders(place)
        return places

    def workspace(self, job_id: str) -> Path:
        return self._job(job_id) / "workspace"

    def scratch(self, job_id: str) -> Path:
        """Of no other job; it need not be there."""
        return self._job(job_id) / "scratch"

    def remove(self, job_id: str) -> None:
        """Also what the job made unreadable; what cannot be removed is logged."""
        remove_tree(self._job(job_id))

    def job_ids(self) -> list[str]:
        """Of all jobs that have a folder."""
        return [folder.name for folder in (self.root / "jobs").glob("*")]

    def session_home(self, agent: str, session_id: str) -> Path:
        """Where a CLI keeps the session. Raises `OSError`."""
        home = self._session(agent, session_id)
        create_folders(home)
        return home

    def sessions(self) -> list[tuple[str, str]]:
        """All that have a folder: agent and session."""
        homes = (self.root / "sessions").glob("*/*")
        return [(home.parent.name, home.name) for home in homes]

    def remove_session(self, agent: str, session_id: str) -> None:
        remove_tree(self._session(agent, session_id))

    def _job(self, job_id: str) -> Path:
        return self.root / "jobs" / _plain(job_id)

    def _session(self, agent: str, session_id: str) -> Path:
        return self.root / "sessions" / _plain(agent) / _plain(session_id)


def _plain(name: str) -> str:
    """A name that is one step of a path; clients may call their sessions anything."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return "-" + hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()


def remove_tree(folder: Path) -> None:
    """Whatever was done to it, and if it is there at all; what cannot be removed is logged."""
    try:
        _remove(folder)
    except OSError as error:
        _log.warning("the folder of a job could not be removed: %s", error)


def _remove(folder: Path) -> None:
    """Links are removed and not followed: `rmtree` sees to that for what is inside."""
    if folder.is_symlink():
        folder.unlink()
        return
    with suppress(FileNotFoundError):
        try:
            shutil.rmtree(folder)
        except PermissionError:
            _make_removable(folder)
            shutil.rmtree(folder)


def _make_removable(folder: Path) -> None:
    """Whether a file can be removed is decided by its folder's mode, not by its own."""
    folder.chmod(0o700)
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            inner = Path(parent, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
