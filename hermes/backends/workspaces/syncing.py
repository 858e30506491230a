"""Finds out where work starts, with news of the remote: the git steps before a job.

A machine of four states. Local work is never lost: a checkout is only ever fast-forwarded, and a
remote that cannot be reached is a report, not an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hermes.backends.git import (
    GitFailed,
    GitTimes,
    Repository,
    Trouble,
    failure_of,
    open_repository,
)
from hermes.backends.workspaces.fetching import Fetches
from hermes.backends.workspaces.reports import SyncReport, SyncStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncWish:
    """What is to be found out."""

    branch: str | None = None
    """None: what is checked out."""
    wants_news: bool = True
    moves_checkout: bool = False
    """Whether the checkout itself is to be fast-forwarded; otherwise nobody will see a change."""


@dataclass(frozen=True, slots=True)
class Synced:
    """Where work starts."""

    report: SyncReport
    start: str | None = None
    """The commit; None: there is none, because the repository is empty or none at all."""


class _State(Enum):
    LOOK = "look"
    FETCH = "fetch"
    COMPARE = "compare"
    FAST_FORWARD = "fast-forward"


@dataclass(slots=True)
class _Sync:
    """What is known so far."""

    repository: Repository
    wish: SyncWish
    fetches: Fetches
    start: str | None = None
    upstream: str = ""
    remote: str = ""

    def ended(self, status: SyncStatus, detail: str = "") -> Synced:
        return Synced(SyncReport(status, detail), self.start)


async def sync_checkout(
    folder: Path, environ: Mapping[str, str], times: GitTimes | None = None
) -> SyncReport:
    """Fetch and fast-forward `folder`, which may be no repository at all. Never raises."""
    try:
        repository = await open_repository(folder, environ, times)
    except GitFailed as failure:
        return SyncReport(SyncStatus.NOT_A_REPOSITORY, failure.detail)
    wish = SyncWish(moves_checkout=True)
    return (await sync(repository, wish, Fetches())).report


async def sync(repository: Repository, wish: SyncWish, fetches: Fetches) -> Synced:
    """Find the commit that work starts from. Never raises."""
    work = _Sync(repository, wish, fetches)
    state = _State.LOOK
    while True:
        try:
            reached = await _STEPS[state](work)
        except GitFailed as failure:
            return _given_up(work, state, failure)
        if isinstance(reached, Synced):
            return reached
        state = reached


def _given_up(work: _Sync, state: _State, failure: GitFailed) -> Synced:
    if failure.trouble is Trouble.MISSING:
        return work.ended(SyncStatus.NOT_A_REPOSITORY, failure.detail)
    if state is _State.FETCH:
        # Whatever fails there is the remote's problem.
        return work.ended(SyncStatus.UNREACHABLE, failure.detail)
    if failure.trouble is Trouble.LOCKED:
        advice = "wait for the other git, or remove the lock it left behind"
        return work.ended(SyncStatus.LOCKED, f"{failure.detail}: {advice}")
    return work.ended(SyncStatus.FAILED, failure.detail)


async def _look(work: _Sync) -> _State | Synced:
    """Which branch, and where its news come from."""
    git = work.repository
    where = "--is-inside-work-tree" if work.wish.moves_checkout else "--git-dir"
    found = await git.call("rev-parse", where)
    if found.returncode != 0 or found.stdout.strip() == b"false":
        return work.ended(SyncStatus.NOT_A_REPOSITORY, found.stderr.strip())
    checked_out = await git.ask("symbolic-ref", "--quiet", "HEAD")
    wanted = f"refs/heads/{work.wish.branch}" if work.wish.branch else checked_out
    work.start = await git.commit_at(wanted or "HEAD")
    if work.wish.moves_checkout and wanted != checked_out:
        detail = f"switch the folder to {work.wish.branch}, or let jobs work in a copy"
        return work.ended(SyncStatus.OTHER_BRANCH, detail)
    work.upstream, work.remote = await _upstream(git, wanted, work)
    if not work.upstream:
        is_missing = work.wish.branch is not None and work.start is None
        return work.ended(SyncStatus.NO_SUCH_BRANCH if is_missing else SyncStatus.NO_UPSTREAM)
    if work.wish.wants_news:
        return _State.FETCH
    work.start = work.start or await git.commit_at(work.upstream)
    return work.ended(SyncStatus.SKIPPED)


async def _upstream(git: Repository, branch: str | None, work: _Sync) -> tuple[str, str]:
    """The upstream of a branch and its remote; empty where there is none."""
    if branch is None:
        return "", ""
    if work.start is None and work.wish.branch:
        remote = await git.main_remote()
        return (f"refs/remotes/{remote}/{work.wish.branch}", remote) if remote else ("", "")
    told = "%(upstream)%00%(upstream:remotename)"
    listed = await git.do("for-each-ref", f"--format={told}", branch)
    # A name that ends in a slash would list whatever is below it; the first line is the branch.
    upstream, _, remote = listed.partition("\n")[0].partition("\0")
    return upstream, remote


async def _fetch(work: _Sync) -> _State:
    await work.fetches.fetch(work.repository, work.remote)
    return _State.COMPARE


async def _compare(work: _Sync) -> _State | Synced:
    theirs = await work.repository.commit_at(work.upstream)
    if theirs is None:
        is_missing = work.start is None
        return work.ended(SyncStatus.NO_SUCH_BRANCH if is_missing else SyncStatus.NO_UPSTREAM)
    if work.start is None:
        work.start = theirs
        return work.ended(SyncStatus.UP_TO_DATE)
    span = f"{work.start}...{theirs}"
    counts = await work.repository.do("rev-list", "--left-right", "--count", span)
    ahead, behind = map(int, counts.split())
    if not behind:
        return work.ended(SyncStatus.UP_TO_DATE)
    if ahead:
        detail = f"{ahead} commits here and {behind} upstream: merge or rebase by hand"
        return work.ended(SyncStatus.DIVERGED, detail)
    if work.wish.moves_checkout:
        return _State.FAST_FORWARD
    work.start = theirs
    return work.ended(SyncStatus.FAST_FORWARDED)


async def _fast_forward(work: _Sync) -> Synced:
    git = work.repository
    changes = await git.do(
        "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"
    )
    if changes:
        return work.ended(SyncStatus.DIRTY, "commit or discard the changes in the workspace")
    # Git itself refuses here when an untracked file would be overwritten.
    merged = await git.call("merge", "--ff-only", "--quiet", work.upstream)
    if merged.returncode != 0:
        refused = failure_of(merged)
        if refused.trouble is Trouble.LOCKED:
            raise refused
        return work.ended(SyncStatus.DIRTY, refused.detail)
    work.start = await git.commit_at("HEAD")
    return work.ended(SyncStatus.FAST_FORWARDED)


_STEPS: dict[_State, Callable[[_Sync], Awaitable[_State | Synced]]] = {
    _State.LOOK: _look,
    _State.FETCH: _fetch,
    _State.COMPARE: _compare,
    _State.FAST_FORWARD: _fast_forward,
}
