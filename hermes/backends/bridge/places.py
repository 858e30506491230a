"""Where a run of the bridge works and keeps its files, noted so that no run outlives the bridge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hermes.backends.errors import CommandFailed
from hermes.backends.jobs import Places
from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from hermes.private_files import create_folders
from hermes.settings import paths


def sweep_stale(environ: Mapping[str, str]) -> None:
    """End what a bridge that was killed has left running. Blocks."""
    JobJournal(_folders(environ)).sweep_stale()


@asynccontextmanager
async def placed(job_id: str, workspace: Path, environ: Mapping[str, str]) -> AsyncIterator[Places]:
    """The places of a run; those that are its own are gone afterwards. Raises `CommandFailed`."""
    folders = _folders(environ)
    journal = JobJournal(folders)
    making = asyncio.ensure_future(
        asyncio.to_thread(_make, job_id, workspace, environ, folders, journal)
    )
    try:
        yield await asyncio.shield(making)
    finally:
        await until_done(making)
        await asyncio.to_thread(_clear, job_id, folders, journal)


async def until_done(work: asyncio.Future[Any]) -> None:
    """Wait for its end, however often somebody wants us to stop waiting."""
    while not work.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({work})


def _folders(environ: Mapping[str, str]) -> JobFolders:
    return JobFolders(lambda: paths.home(environ) / "bridge")


def _make(
    job_id: str,
    workspace: Path,
    environ: Mapping[str, str],
    folders: JobFolders,
    journal: JobJournal,
) -> Places:
    try:
        create_folders(workspace)
    except OSError as error:
        detail = f"WORKSPACE_DIR {workspace} cannot be used: {error.strerror}"
        raise CommandFailed(detail) from error
    try:
        journal.note(job_id)
        return folders.make(job_id, home=_home(environ), workspace=workspace)
    except OSError as error:
        detail = f"HERMES_HOME cannot be used: {error.strerror}: {error.filename}"
        raise CommandFailed(detail) from error


def _home(environ: Mapping[str, str]) -> Path | None:
    """The operator's own: the CLI's login is there, and its agents are. None: one for the run."""
    home = Path(environ.get("HOME") or Path.home())
    return home if home.is_dir() else None


def _clear(job_id: str, folders: JobFolders, journal: JobJournal) -> None:
    folders.remove(job_id)
    journal.forget(job_id)
