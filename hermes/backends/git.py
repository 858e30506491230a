"""Brings a workspace up to date with its upstream: fetch, then fast-forward or leave it alone.

Local work is never lost, and a remote that cannot be reached is a report, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hermes.backends import environment
from hermes.backends.errors import CommandFailed, CommandMissing
from hermes.backends.process import Command, Completed, run

LOCAL_SECONDS = 30.0
FETCH_SECONDS = 60.0

SETTINGS = (
    # What a repository says about itself must not run programs here.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    # Housekeeping would go on in the background after we are done.
    "gc.auto=0",
    "maintenance.auto=false",
)


class SyncStatus(Enum):
    """What a sync found or did."""

    NOT_A_REPOSITORY = "not a repository"
    NO_UPSTREAM = "no upstream"
    UP_TO_DATE = "up to date"
    FAST_FORWARDED = "fast-forwarded"
    DIVERGED = "diverged"
    """Both sides have commits of their own; somebody has to merge them."""
    UNREACHABLE = "unreachable"
    """The fetch failed; the workspace may be behind."""
    DIRTY = "dirty"
    """Upstream has news, but local changes stand in the way."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The outcome of one sync; `detail` is git's own message where it gave one."""

    status: SyncStatus
    detail: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether the workspace may lack something its upstream has."""
        return self.status in (SyncStatus.DIVERGED, SyncStatus.UNREACHABLE, SyncStatus.DIRTY)


@dataclass(frozen=True, slots=True)
class _Repository:
    workspace: Path
    environment: Mapping[str, str]

    async def git(self, *arguments: str, seconds: float = LOCAL_SECONDS) -> Completed:
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        return await run(
            Command(
                argv=("git", *settings, *arguments),
                cwd=self.workspace,
                environment=self.environment,
                timeout_seconds=seconds,
            )
        )


async def sync(workspace: Path, environ: Mapping[str, str]) -> SyncReport:
    """Fetch and fast-forward `workspace`. Raises `CommandFailed` only if local work hangs."""
    repository = _Repository(workspace, environment.for_git(environ, workspace))
    hindrance = await _hindrance(repository) or await _fetch_problem(repository)
    if hindrance is not None:
        return hindrance
    counts = await repository.git("rev-list", "--left-right", "--count", "HEAD...@{upstream}")
    if counts.returncode != 0:
        return SyncReport(SyncStatus.NO_UPSTREAM, counts.stderr.strip())
    ahead, behind = map(int, counts.stdout.split())
    if not behind:
        return SyncReport(SyncStatus.UP_TO_DATE)
    if ahead:
        detail = f"{ahead} commits here and {behind} upstream: merge or rebase by hand"
        return SyncReport(SyncStatus.DIVERGED, detail)
    return await _fast_forward(repository)


async def _hindrance(repository: _Repository) -> SyncReport | None:
    """Why there is nothing to sync, or None."""
    try:
        inside = await repository.git("rev-parse", "--is-inside-work-tree")
    except CommandMissing:
        detail = f"git is not installed, or there is no folder {repository.workspace}"
        return SyncReport(SyncStatus.NOT_A_REPOSITORY, detail)
    if inside.returncode != 0 or inside.stdout.strip() != b"true":
        return SyncReport(SyncStatus.NOT_A_REPOSITORY, inside.stderr.strip())
    upstream = await repository.git("rev-parse", "--symbolic-full-name", "@{upstream}")
    if upstream.returncode != 0:
        return SyncReport(SyncStatus.NO_UPSTREAM, upstream.stderr.strip())
    return None


async def _fetch_problem(repository: _Repository) -> SyncReport | None:
    """Fetch from the branch's own remote; whatever fails there is the remote's problem."""
    try:
        fetched = await repository.git(
            "fetch", "--quiet", "--no-recurse-submodules", seconds=FETCH_SECONDS
        )
    except CommandFailed as error:
        return SyncReport(SyncStatus.UNREACHABLE, str(error))
    if fetched.returncode != 0:
        return SyncReport(SyncStatus.UNREACHABLE, fetched.stderr.strip())
    return None


async def _fast_forward(repository: _Repository) -> SyncReport:
    changes = await repository.git("status", "--porcelain", "--untracked-files=no")
    if changes.returncode != 0 or changes.stdout.strip():
        detail = changes.stderr.strip() or "commit or discard the changes in the workspace"
        return SyncReport(SyncStatus.DIRTY, detail)
    # Git itself refuses here when an untracked file would be overwritten.
    merged = await repository.git("merge", "--ff-only", "--quiet", "@{upstream}")
    if merged.returncode != 0:
        return SyncReport(SyncStatus.DIRTY, merged.stderr.strip())
    return SyncReport(SyncStatus.FAST_FORWARDED)
