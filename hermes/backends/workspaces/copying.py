"""Makes a job's own copy of a repository. The repository's checkout is never touched."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

from hermes.backends.git import GitFailed, Repository, Trouble
from hermes.backends.workspaces.commit_message import AUTHOR_EMAIL, AUTHOR_NAME
from hermes.backends.workspaces.workspace import Copy

_OF_A_CLONE = (
    # The agent may commit; its home knows nobody.
    f"user.name={AUTHOR_NAME}",
    f"user.email={AUTHOR_EMAIL}",
    # What the agent pushes out of habit must not land on a branch of somebody's.
    "remote.origin.pushurl=disabled://the-gateway-keeps-the-work",
)


async def clone(source: Repository, path: Path, *, branch: str, base: str | None) -> Copy:
    """A repository of its own. Raises `GitFailed`."""
    common = await _common_folder(source)
    settings = [word for setting in _OF_A_CLONE for word in ("--config", setting)]
    await source.do(
        *("clone", "--quiet", "--local", "--no-checkout", "--no-recurse-submodules"),
        # A template of the user's could bring hooks.
        *("--template=", *settings, "--", str(common), str(path)),
        seconds=source.times.copy,
    )
    copied = replace(source, folder=path)
    if base is None:
        await copied.do("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    else:
        await copied.do(
            *("checkout", "--quiet", "--no-recurse-submodules", "-B", branch, base, "--"),
            seconds=source.times.copy,
        )
    return await _kept_apart(source, common, path / ".git", path)


async def worktree(source: Repository, path: Path, *, base: str | None) -> Copy:
    """A further checkout of the same repository. Raises `GitFailed`."""
    if base is None:
        detail = "the repository has no commit to start from: make one, or use the mode clone"
        raise GitFailed(Trouble.FAILED, detail)
    common = await _common_folder(source)
    # On no branch: git refuses one that is checked out elsewhere. The job's is made when there is
    # something to put on it.
    await source.do(
        *("worktree", "add", "--quiet", "--detach", "--", str(path), base),
        seconds=source.times.copy,
    )
    inside = replace(source, folder=path)
    git_folder = Path(await inside.do("rev-parse", "--absolute-git-dir"))
    return await _kept_apart(source, common, git_folder, path)


async def forget_worktree(source: Repository, path: Path) -> None:
    """The repository forgets a worktree whose folder is gone. Raises `GitFailed`."""
    await source.do("worktree", "remove", "--force", "--", str(path))


def index_beside(path: Path) -> Path:
    """Where the list of a copy's files is kept."""
    return path.with_name(f"{path.name}.index")


async def _common_folder(source: Repository) -> Path:
    told = await source.do("rev-parse", "--path-format=absolute", "--git-common-dir")
    return Path(told)


async def _kept_apart(source: Repository, common: Path, git_folder: Path, path: Path) -> Copy:
    """With it, later only changed files have to be read; the agent cannot tamper with it."""
    index = index_beside(path)
    if (git_folder / "index").exists():
        # The time belongs to it: git reads a file again that changed in the same moment.
        await asyncio.to_thread(shutil.copy2, git_folder / "index", index)
    return Copy(source=source.folder, common_folder=common, git_folder=git_folder, index=index)
