"""A place for one job to work in, and what is known of the work done there. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hermes.backends.workspaces.leases import Lease
from hermes.backends.workspaces.reports import SyncReport
from hermes.core.usage import NO_USAGE, Usage
from hermes.settings.cli_settings import CliWorkspaceSettings, WorkspaceMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Where a copy of a repository comes from, and where its work goes."""

    source: Path
    """The repository as the operator named it."""
    common_folder: Path
    """What git keeps of it."""
    git_folder: Path
    """What git keeps of the copy."""
    index: Path
    """Git's list of the files as they were at first, out of the agent's reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Made by `Workspaces.prepare`, given back with `Workspaces.release`."""

    job_id: str
    path: Path
    settings: CliWorkspaceSettings
    branch: str | None = None
    """Where the work of the job will be found; None: it is not committed."""
    base: str | None = None
    """The commit it starts from; None: it starts from nothing, or without git."""
    warning: str | None = None
    """What the caller should know before anything is done: the files may be old, for instance."""
    sync: SyncReport | None = None
    copy: Copy | None = field(default=None, repr=False)
    lease: Lease | None = field(default=None, repr=False)

    @property
    def mode(self) -> WorkspaceMode:
        return self.settings.mode


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDone:
    """What is written beside the work of a job."""

    job_id: str
    model: str
    summary: str
    """The first words of the answer; they become the subject of the commit."""
    run_id: str | None = None
    usage: Usage = NO_USAGE
