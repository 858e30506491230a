"""What is said about a workspace: before a job, and after it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hermes.backends.git import Trouble
from hermes.core.errors import HermesError


class SyncStatus(Enum):
    """What a sync found or did."""

    NOT_A_REPOSITORY = "not a repository"
    NO_UPSTREAM = "no upstream"
    NO_SUCH_BRANCH = "no such branch"
    SKIPPED = "skipped"
    """Nobody wanted news."""
    UP_TO_DATE = "up to date"
    FAST_FORWARDED = "fast-forwarded"
    DIVERGED = "diverged"
    """Both sides have commits of their own; somebody has to merge them."""
    UNREACHABLE = "unreachable"
    """The fetch failed; what is here may be behind."""
    DIRTY = "dirty"
    """Upstream has news, but local changes stand in the way."""
    OTHER_BRANCH = "other branch"
    """The folder has another branch checked out than the one to work on."""
    LOCKED = "locked"
    """Another git is at work in the folder, or left its lock behind."""
    FAILED = "failed"
    """Git gave up on something that should have been possible."""


_STALE = frozenset(
    {
        SyncStatus.DIVERGED,
        SyncStatus.UNREACHABLE,
        SyncStatus.DIRTY,
        SyncStatus.OTHER_BRANCH,
        SyncStatus.LOCKED,
        SyncStatus.FAILED,
    }
)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The outcome of one sync; `detail` is git's own message where it gave one."""

    status: SyncStatus
    detail: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether what is here may lack something its upstream has."""
        return self.status in _STALE


class WorkspaceProblem(HermesError):
    """There is no workspace for a job; `detail` says why, for the operator."""

    def __init__(self, status: SyncStatus, detail: str) -> None:
        super().__init__(f"{status.value}: {detail}" if detail else status.value)
        self.status = status
        self.detail = detail


class WorkStatus(Enum):
    """Where the work of a job is."""

    NOT_KEPT = "not_kept"
    """Nobody wanted to keep it: an empty folder, or a copy that is not committed."""
    IN_PLACE = "in_place"
    """In the shared folder itself."""
    UNCHANGED = "unchanged"
    """There is none: the copy is as it was."""
    COMMITTED = "committed"
    """On its branch in the repository."""
    PUSHED = "pushed"
    """There, and on the same branch of the remote."""
    COMPLETED_UNPUSHED = "completed_unpushed"
    """On its branch in the repository, but not on the remote's."""
    SET_ASIDE = "set_aside"
    """It could not be committed; its files are in `kept_at`."""
    LOST = "lost"
    """Its folder is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceReport:
    """What became of a job's work."""

    status: WorkStatus
    branch: str | None = None
    commit: str | None = None
    trouble: Trouble | None = None
    """Why it got no further than that."""
    detail: str = ""
    """The same in words, git's own where it gave some; and what else a person should know."""
    is_complete: bool = True
    """Whether all of it is there; otherwise the rest is in `kept_at`."""
    kept_at: Path | None = None
    """Where the files of the job were moved to."""
