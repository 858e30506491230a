"""A place to work for each job, made before it and cleared away after it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hermes.backends import environment
from hermes.backends.git import GitFailed, GitTimes, Repository, Trouble, open_repository
from hermes.backends.running.folders import remove_tree
from hermes.backends.workspaces import copying
from hermes.backends.workspaces.fetching import Fetches
from hermes.backends.workspaces.folders import set_aside
from hermes.backends.workspaces.landing import land
from hermes.backends.workspaces.leases import Leases
from hermes.backends.workspaces.reports import (
    SyncReport,
    SyncStatus,
    WorkspaceProblem,
    WorkspaceReport,
    WorkStatus,
)
from hermes.backends.workspaces.syncing import SyncWish, sync
from hermes.backends.workspaces.workspace import Copy, WorkDone, Workspace
from hermes.private_files import create_folders
from hermes.settings.cli_settings import CliWorkspaceSettings

logger = logging.getLogger(__name__)

_NOTHING_TO_COPY = (SyncStatus.NOT_A_REPOSITORY, SyncStatus.NO_SUCH_BRANCH)


class Workspaces:
    """Shared by all jobs of a process, on one event loop."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        kept: Path,
        times: GitTimes | None = None,
        fetches: Fetches | None = None,
    ) -> None:
        """`kept` is where the files of a job go whose work could not be committed."""
        self._environ = environ
        self._kept = kept
        self._times = times or GitTimes()
        self._fetches = fetches or Fetches()
        self._leases = Leases()

    async def prepare(
        self, settings: CliWorkspaceSettings, *, job_id: str, folder: Path
    ) -> Workspace:
        """A place for the job, inside its own `folder` unless the place is shared.

        Waits while somebody else has a shared folder. Raises `WorkspaceProblem`; then, and when it
        is cancelled, nothing is left behind.
        """
        match settings.mode:
            case "none":
                path = await asyncio.to_thread(_empty_folder, folder)
                return Workspace(job_id=job_id, path=path, settings=settings)
            case "shared":
                return await self._shared(settings, job_id)
            case "clone" | "worktree":
                return await self._copied(settings, job_id, folder)

    async def conclude(self, workspace: Workspace, work: WorkDone) -> WorkspaceReport:
        """Keep the work, as the settings of the workspace say. Never raises."""
        if workspace.mode == "shared":
            return WorkspaceReport(status=WorkStatus.IN_PLACE)
        if workspace.copy is None or not workspace.settings.commit:
            return WorkspaceReport(status=WorkStatus.NOT_KEPT)
        if workspace.path.is_symlink() or not workspace.path.is_dir():
            detail = f"{workspace.path} was removed or replaced while the job ran"
            return WorkspaceReport(status=WorkStatus.LOST, detail=detail)
        try:
            report = await land(workspace, work, self._environ, self._times)
        except GitFailed as failure:
            report = WorkspaceReport(
                status=WorkStatus.SET_ASIDE,
                trouble=failure.trouble,
                detail=failure.detail,
                is_complete=False,
            )
        if not report.is_complete:
            report = await self._set_aside(workspace, report)
        shown = environment.redact(report.detail, self._environ)
        if shown:
            logger.warning("The work of job %s is %s: %s", work.job_id, report.status.value, shown)
        return replace(report, detail=shown)

    async def release(self, workspace: Workspace) -> None:
        """Clear away what was made, and let the next one in. More than once is fine."""
        try:
            if workspace.mode != "shared":
                await self._clear(workspace)
        finally:
            if workspace.lease is not None:
                workspace.lease.give_back()

    def rescue(self, folder: Path, job_id: str) -> Path | None:
        """Move the copy of a repository away whose job was killed, if there is one. May block."""
        path = folder / "workspace"
        if path.is_symlink() or not (path / ".git").exists():
            return None
        return set_aside(path, self._kept, job_id)

    async def _shared(self, settings: CliWorkspaceSettings, job_id: str) -> Workspace:
        path = _repository(settings)
        lease = await self._leases.take(path)
        workspace = Workspace(job_id=job_id, path=path, settings=settings, lease=lease)
        try:
            if not path.is_dir():
                raise WorkspaceProblem(SyncStatus.NOT_A_REPOSITORY, f"there is no folder {path}")
            if not settings.sync:
                return workspace
            wish = SyncWish(branch=settings.branch, moves_checkout=True)
            synced = await sync(await self._open(path), wish, self._fetches)
            warning = self._warning(settings, synced.report)
            return replace(workspace, base=synced.start, sync=synced.report, warning=warning)
        except BaseException:
            lease.give_back()
            raise

    async def _copied(self, settings: CliWorkspaceSettings, job_id: str, folder: Path) -> Workspace:
        source = await self._open(_repository(settings))
        wish = SyncWish(branch=settings.branch, wants_news=settings.sync)
        synced = await sync(source, wish, self._fetches)
        if synced.report.status in _NOTHING_TO_COPY:
            raise self._problem(synced.report)
        warning = self._warning(settings, synced.report)
        branch = f"agent/{job_id}"
        # A job that goes on finds what it had done before.
        former = await source.commit_at(f"refs/heads/{branch}")
        await asyncio.to_thread(create_folders, folder)
        workspace = Workspace(
            job_id=job_id,
            path=folder / "workspace",
            settings=settings,
            branch=branch,
            base=former or synced.start,
            warning=warning,
            sync=synced.report,
        )
        return replace(workspace, copy=await self._copy(source, workspace, branch))

    async def _copy(self, source: Repository, workspace: Workspace, branch: str) -> Copy:
        path, base = workspace.path, workspace.base
        try:
            if workspace.mode == "worktree":
                return await copying.worktree(source, path, base=base)
            return await copying.clone(source, path, branch=branch, base=base)
        except GitFailed as failure:
            await self._clear(workspace)
            status = SyncStatus.LOCKED if failure.trouble is Trouble.LOCKED else SyncStatus.FAILED
            raise self._problem(SyncReport(status, failure.detail)) from failure
        except asyncio.CancelledError:
            await self._clear(workspace)
            raise

    async def _open(self, path: Path) -> Repository:
        try:
            return await open_repository(path, self._environ, self._times)
        except GitFailed as failure:
            report = SyncReport(SyncStatus.NOT_A_REPOSITORY, failure.detail)
            raise self._problem(report) from failure

    def _warning(self, settings: CliWorkspaceSettings, report: SyncReport) -> str | None:
        """What to tell about files that may be old; raises where nobody is to work on those."""
        if not report.is_stale:
            return None
        problem = self._problem(report)
        if settings.sync_failure == "fail":
            raise problem
        logger.warning("A workspace may be stale: %s", problem)
        return str(problem)

    def _problem(self, report: SyncReport) -> WorkspaceProblem:
        return WorkspaceProblem(report.status, environment.redact(report.detail, self._environ))

    async def _set_aside(self, workspace: Workspace, report: WorkspaceReport) -> WorkspaceReport:
        """Its folder will be cleared away: move what is in it to where nobody does that."""
        try:
            kept_at = await asyncio.to_thread(
                set_aside, workspace.path, self._kept, workspace.job_id
            )
        except OSError as error:
            detail = f"{report.detail}; its files could not be moved away: {error}"
            is_nowhere = report.status is WorkStatus.SET_ASIDE
            status = WorkStatus.LOST if is_nowhere else report.status
            return replace(report, status=status, detail=detail)
        detail = f"{report.detail}; the files are in {kept_at}"
        return replace(report, detail=detail, kept_at=kept_at)

    async def _clear(self, workspace: Workspace) -> None:
        await asyncio.to_thread(_remove, workspace.path)
        if workspace.mode == "worktree":
            # Also if it was never finished: git may have noted it already.
            with contextlib.suppress(GitFailed, WorkspaceProblem):
                source = await self._open(_repository(workspace.settings))
                await copying.forget_worktree(source, workspace.path)


def _repository(settings: CliWorkspaceSettings) -> Path:
    if settings.repository is None:
        detail = f"the workspace mode {settings.mode} needs a repository: name it in config.yaml"
        raise WorkspaceProblem(SyncStatus.NOT_A_REPOSITORY, detail)
    return settings.repository.expanduser().absolute()


def _empty_folder(folder: Path) -> Path:
    path = folder / "workspace"
    create_folders(path)
    return path


def _remove(path: Path) -> None:
    remove_tree(path)
    copying.index_beside(path).unlink(missing_ok=True)
