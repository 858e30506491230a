"""Brings the work of a job home, onto its branch: the git steps after a job.

A machine of five states. What the agent left in its copy is foreign: git is never asked to work
*with* the copy's settings, index or references. The source repository takes over the agent's own
commits, as from any stranger, then reads the files beneath its own settings, and makes a commit
without a checkout. Nobody's branch but the job's is touched, and nothing is ever overwritten.
"""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from hermes.backends.git import GitFailed, GitTimes, Repository, Trouble, open_repository
from hermes.backends.workspaces.commit_message import AUTHOR_EMAIL, AUTHOR_NAME, commit_message
from hermes.backends.workspaces.leftovers import inner_repositories, unfinished_business
from hermes.backends.workspaces.reports import WorkspaceReport, WorkStatus
from hermes.backends.workspaces.workspace import Copy, WorkDone, Workspace

_PERSON = {
    "GIT_AUTHOR_NAME": AUTHOR_NAME,
    "GIT_AUTHOR_EMAIL": AUTHOR_EMAIL,
    "GIT_COMMITTER_NAME": AUTHOR_NAME,
    "GIT_COMMITTER_EMAIL": AUTHOR_EMAIL,
}


class _State(Enum):
    COLLECT = "collect"
    STAGE = "stage"
    COMMIT = "commit"
    LAND = "land"
    PUSH = "push"


@dataclass(slots=True)
class _Landing:
    """What is known so far."""

    workspace: Workspace
    copy: Copy
    branch: str
    done: WorkDone
    source: Repository
    """The repository, without any work tree."""
    snapshot: Repository
    """The same, with the job's files as its work tree and an index of our own."""
    parent: str | None = None
    """What the work is committed on: the base, or the agent's own last commit."""
    commit: str | None = None
    tree: str = ""
    remarks: list[str] = field(default_factory=list)
    is_complete: bool = True

    def leave_out(self, remark: str) -> None:
        """Something will not be on the branch."""
        self.remarks.append(remark)
        self.is_complete = False

    @property
    def reference(self) -> str:
        return f"refs/heads/{self.branch}"

    def ended(self, status: WorkStatus, failure: GitFailed | None = None) -> WorkspaceReport:
        words = [failure.detail] if failure else []
        return WorkspaceReport(
            status=status,
            branch=self.branch if self.commit else None,
            commit=self.commit,
            trouble=failure.trouble if failure else None,
            detail="; ".join([*words, *self.remarks]),
            is_complete=self.is_complete,
        )


async def land(
    workspace: Workspace, done: WorkDone, environ: Mapping[str, str], times: GitTimes
) -> WorkspaceReport:
    """Commit and push as its settings say. Raises `GitFailed` while nothing is committed."""
    work = await _landing(workspace, done, environ, times)
    state = _State.COLLECT
    while True:
        try:
            reached = await _STEPS[state](work)
        except GitFailed as failure:
            if state is _State.PUSH:
                return work.ended(WorkStatus.COMPLETED_UNPUSHED, failure)
            raise
        if isinstance(reached, WorkspaceReport):
            return reached
        state = reached


async def _landing(
    workspace: Workspace, done: WorkDone, environ: Mapping[str, str], times: GitTimes
) -> _Landing:
    assert workspace.copy is not None and workspace.branch is not None
    copy = workspace.copy
    # An agent may have made objects that no git would make: they are looked at first.
    careful = [("fetch.fsckObjects", "true")]
    opened = await open_repository(copy.source, environ, times, settings=careful)
    source = opened.looking_at(GIT_DIR=copy.common_folder)
    snapshot = replace(
        source.looking_at(GIT_WORK_TREE=workspace.path, GIT_INDEX_FILE=copy.index),
        folder=workspace.path,
    )
    return _Landing(workspace, copy, workspace.branch, done, source, snapshot)


async def _collect(work: _Landing) -> _State:
    """Take over what the agent committed itself, if it goes on from where it started."""
    base = work.workspace.base
    work.parent = base
    head = await _agents_head(work)
    if head is not None and await _goes_on_from(work.source, base, head):
        work.parent = head
    elif head is not None:
        work.leave_out("the agent's own commits do not go on from its start and were left out")
    return _State.STAGE


async def _agents_head(work: _Landing) -> str | None:
    if work.workspace.mode == "worktree":
        inside = work.source.looking_at(GIT_DIR=work.copy.git_folder)
        return await inside.commit_at("HEAD")
    if not _is_real_folder(work.copy.git_folder):
        # Whatever it leads to is not the copy that was made.
        work.leave_out("the copy's own repository is gone")
        return None
    passing = f"refs/hermes/{work.done.job_id}"
    fetched = await work.source.call(
        *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
        *("--upload-pack=git-upload-pack", "--", str(work.workspace.path), f"+HEAD:{passing}"),
        seconds=work.source.times.copy,
    )
    if fetched.returncode != 0:
        if work.workspace.base is not None:
            work.leave_out(f"the agent's own commits were left out: {fetched.stderr.strip()}")
        return None
    head = await work.source.commit_at(passing)
    await work.source.do("update-ref", "-d", passing)
    return head


async def _goes_on_from(source: Repository, base: str | None, head: str) -> bool:
    if base is None:
        return True
    return await source.ask("merge-base", "--is-ancestor", base, head) is not None


async def _stage(work: _Landing) -> _State:
    """Make a tree of the files as they are, however the agent left its own git."""
    work.remarks += unfinished_business(work.copy.git_folder)
    inner = await asyncio.to_thread(inner_repositories, work.workspace.path)
    made = sorted(each.path for each in inner if not each.is_submodule)
    if made:
        # Git would note where they stand and throw their files away.
        work.leave_out(f"left out, as they are repositories of their own: {', '.join(made)}")
    if work.parent is not None:
        # What the index knows of files that are the same in both is kept, and they stay unread.
        await work.snapshot.do("read-tree", "--reset", work.parent)
    wanted = "\0".join([".", *(f":(exclude,literal){each.path}" for each in inner)])
    await work.snapshot.do(
        *("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"),
        stdin=wanted.encode(errors="surrogateescape"),
        seconds=work.snapshot.times.copy,
    )
    work.tree = await work.snapshot.do("write-tree")
    return _State.COMMIT


async def _commit(work: _Landing) -> _State | WorkspaceReport:
    """Only if something changed; what the agent committed itself stays as it is."""
    before = await work.source.ask("rev-parse", f"{work.parent}^{{tree}}") if work.parent else None
    if work.tree == before or (before is None and work.tree == await _empty_tree(work.source)):
        if work.parent == work.workspace.base:
            return work.ended(WorkStatus.UNCHANGED)
        work.commit = work.parent
        return _State.LAND
    parents = ("-p", work.parent) if work.parent else ()
    author = replace(work.source, environment={**work.source.environment, **_PERSON})
    message = commit_message(work.done).encode(errors="replace")
    work.commit = await author.do("commit-tree", *parents, "-F", "-", work.tree, stdin=message)
    return _State.LAND


async def _empty_tree(source: Repository) -> str:
    return await source.do("mktree", stdin=b"")


async def _land(work: _Landing) -> _State | WorkspaceReport:
    assert work.commit is not None
    there = await work.source.commit_at(work.reference)
    if there is not None and not await _goes_on_from(work.source, there, work.commit):
        detail = f"{work.branch} has other commits already; look at both, and merge by hand"
        raise GitFailed(Trouble.REJECTED, detail)
    # Refused if somebody moves the branch meanwhile; no former commit: it must not be there.
    former = there or "0" * len(work.commit)
    reason = f"hermes: job {work.done.job_id}"
    await work.source.do("update-ref", "-m", reason, work.reference, work.commit, former)
    return _State.PUSH if work.workspace.settings.push else work.ended(WorkStatus.COMMITTED)


async def _push(work: _Landing) -> WorkspaceReport:
    remote = await work.source.main_remote()
    if remote is None:
        raise GitFailed(Trouble.UNREACHABLE, "the repository has no remote to push to")
    await work.source.do(
        *("push", "--quiet", "--porcelain", "--no-verify", "--receive-pack=git-receive-pack"),
        *("--", remote, f"{work.commit}:{work.reference}"),
        seconds=work.source.times.push,
    )
    return work.ended(WorkStatus.PUSHED)


_STEPS: dict[_State, Callable[[_Landing], Awaitable[_State | WorkspaceReport]]] = {
    _State.COLLECT: _collect,
    _State.STAGE: _stage,
    _State.COMMIT: _commit,
    _State.LAND: _land,
    _State.PUSH: _push,
}


def _is_real_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
