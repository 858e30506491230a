"""A job in a repository, as tests need it: a world, its settings, and what is left afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from hermes.backends.git import GitTimes
from hermes.backends.workspaces.fetching import Fetches
from hermes.backends.workspaces.reports import WorkspaceReport
from hermes.backends.workspaces.workspace import WorkDone, Workspace
from hermes.backends.workspaces.workspaces import Workspaces
from hermes.core.usage import Usage
from hermes.settings.cli_settings import CliWorkspaceSettings, WorkspaceMode
from tests.unit.backends.repositories import ENVIRON, World, run_git

JOB = "job_1"
DONE = WorkDone(
    job_id=JOB,
    run_id="run_1",
    model="claude/haiku",
    usage=Usage(total_tokens=12, cost_usd=0.5),
    summary="Wrote a chapter.",
)


@dataclass
class Jobs:
    """Workspaces for jobs on the world's workspace, which is the operator's repository."""

    world: World
    folder: Path
    settings: CliWorkspaceSettings
    environ: dict[str, str] = field(default_factory=lambda: dict(ENVIRON))
    times: GitTimes = field(default_factory=GitTimes)

    def __post_init__(self) -> None:
        self.workspaces = Workspaces(
            self.environ, kept=self.folder / "kept", times=self.times, fetches=Fetches()
        )

    async def prepare(self, job_id: str = JOB, **changes: object) -> Workspace:
        settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        folder = self.folder / "jobs" / job_id
        return await self.workspaces.prepare(settings, job_id=job_id, folder=folder)

    async def conclude(self, workspace: Workspace) -> WorkspaceReport:
        done = replace(DONE, job_id=workspace.job_id)
        return await self.workspaces.conclude(workspace, done)

    def source_says(self, *arguments: str) -> str:
        return run_git(self.world.workspace, *arguments)

    @property
    def branches(self) -> list[str]:
        """The branches of jobs, and whatever else of ours there may be."""
        listed = self.source_says(
            "for-each-ref", "--format=%(refname)", "refs/heads/agent", "refs/hermes"
        )
        return listed.split()


def jobs_in(world: World, folder: Path, mode: WorkspaceMode = "clone", **changes: object) -> Jobs:
    settings = CliWorkspaceSettings(mode=mode, repository=world.workspace)
    return Jobs(world, folder, replace(settings, **changes))  # type: ignore[arg-type]
