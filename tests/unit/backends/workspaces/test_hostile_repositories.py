"""Repositories that want to run programs, and agents that tamper with theirs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hermes.backends.workspaces.reports import WorkStatus
from tests.unit.backends.repositories import commit, make_world, run_git
from tests.unit.backends.workspaces.jobs import JOB, Jobs, jobs_in

BRANCH = f"agent/{JOB}"
HOOKS = (
    "post-checkout",
    "pre-commit",
    "commit-msg",
    "post-commit",
    "reference-transaction",
    "pre-push",
    "post-index-change",
)


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """Exists if something ran that should not."""
    return tmp_path / "ran"


@pytest.fixture(params=["clone", "worktree"])
def jobs(request: pytest.FixtureRequest, tmp_path: Path) -> Jobs:
    return jobs_in(make_world(tmp_path), tmp_path, request.param, push=True)


def trap(ran: Path) -> str:
    return f"touch {shlex.quote(str(ran))}; cat"


def set_traps(folder: Path, ran: Path) -> None:
    """Everything in a repository's own settings that would start a program."""
    settings = {
        "core.fsmonitor": trap(ran),
        "core.sshCommand": trap(ran),
        "core.askPass": trap(ran),
        "core.alternateRefsCommand": trap(ran),
        "core.pager": trap(ran),
        "core.editor": trap(ran),
        "credential.helper": f"!{trap(ran)}",
        "filter.trap.clean": trap(ran),
        "filter.trap.smudge": trap(ran),
        "filter.trap.process": trap(ran),
        "filter.trap.required": "true",
        "diff.external": trap(ran),
        "merge.trap.driver": trap(ran),
        "commit.gpgSign": "true",
        "push.gpgSign": "true",
        "gpg.program": trap(ran),
        "remote.origin.uploadpack": trap(ran),
        "remote.origin.receivepack": trap(ran),
        "protocol.ext.allow": "always",
        "uploadpack.packObjectsHook": trap(ran),
        "submodule.recurse": "true",
    }
    for name, value in settings.items():
        run_git(folder, "config", name, value)
    set_hooks(folder, ran)


def set_hooks(folder: Path, ran: Path) -> None:
    git_folder = run_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    hooks = Path(git_folder) / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\ntouch {shlex.quote(str(ran))}\n")
        (hooks / name).chmod(0o700)


async def test_a_repository_full_of_traps_runs_none_of_them(jobs: Jobs, ran: Path) -> None:
    jobs.world.push(".gitattributes", "* filter=trap diff=trap merge=trap\n")
    set_traps(jobs.world.workspace, ran)
    workspace = await jobs.prepare()
    assert (workspace.path / ".gitattributes").exists()
    (workspace.path / "story").write_text("twice")
    report = await jobs.conclude(workspace)
    await jobs.workspaces.release(workspace)
    assert report.status is WorkStatus.PUSHED
    assert run_git(jobs.world.upstream, "show", f"{BRANCH}:story") == "twice"
    assert not ran.exists()


async def test_traps_that_the_agent_sets_in_its_copy_stay_shut(jobs: Jobs, ran: Path) -> None:
    workspace = await jobs.prepare()
    (workspace.path / ".gitattributes").write_text("* filter=trap\n")
    (workspace.path / "story").write_text("twice")
    set_traps(workspace.path, ran)
    report = await jobs.conclude(workspace)
    await jobs.workspaces.release(workspace)
    assert report.status is WorkStatus.PUSHED
    assert not ran.exists()


async def test_a_repository_inside_the_copy_is_left_out_and_runs_nothing(
    jobs: Jobs, ran: Path
) -> None:
    workspace = await jobs.prepare()
    inner = workspace.path / "vendored"
    inner.mkdir()
    run_git(inner, "init", "-q")
    commit(inner, "file", "text")
    (inner / ".gitattributes").write_text("* filter=trap\n")
    (inner / "file").write_text("TEXT")
    set_traps(inner, ran)
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert "vendored" in report.detail
    assert not report.is_complete
    assert report.kept_at is not None
    assert (report.kept_at / "vendored" / "file").read_text() == "TEXT"
    assert jobs.source_says("ls-tree", "--name-only", BRANCH) == "new\nstory"
    assert not ran.exists()


async def test_a_submodule_that_the_agent_fetched_is_left_as_it_is_noted(
    jobs: Jobs, ran: Path, tmp_path: Path
) -> None:
    world = jobs.world
    local = ("-c", "protocol.file.allow=always")
    run_git(world.colleague, *local, "submodule", "add", "-q", str(world.upstream), "part")
    run_git(world.colleague, "commit", "-q", "-m", "a submodule")
    run_git(world.colleague, "push", "-q")
    workspace = await jobs.prepare()
    run_git(workspace.path, *local, "submodule", "update", "--init", "-q")
    set_traps(workspace.path / "part", ran)
    (workspace.path / "part" / ".gitattributes").write_text("* filter=trap\n")
    (workspace.path / "part" / "story").write_text("changed")
    ran.unlink(missing_ok=True)
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.PUSHED
    assert report.is_complete
    assert not ran.exists()
    noted = run_git(world.colleague, "rev-parse", "HEAD:part")
    assert jobs.source_says("rev-parse", f"{BRANCH}:part") == noted


async def test_a_submodule_with_a_program_for_an_address_is_not_fetched(
    jobs: Jobs, ran: Path
) -> None:
    world = jobs.world
    head = run_git(world.colleague, "rev-parse", "HEAD")
    url = f"ext::sh -c {shlex.quote(trap(ran))}"
    run_git(world.colleague, "config", "-f", ".gitmodules", "submodule.x.path", "x")
    run_git(world.colleague, "config", "-f", ".gitmodules", "submodule.x.url", url)
    run_git(world.colleague, "config", "-f", ".gitmodules", "submodule.x.update", "!touch ran")
    run_git(world.colleague, "update-index", "--add", "--cacheinfo", f"160000,{head},x")
    run_git(world.colleague, "add", ".gitmodules")
    run_git(world.colleague, "commit", "-q", "-m", "a submodule")
    run_git(world.colleague, "push", "-q")
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.PUSHED
    assert not ran.exists()
    assert run_git(world.upstream, "ls-tree", BRANCH, "x").startswith("160000 commit")


async def test_a_remote_that_is_a_program_is_not_started(jobs: Jobs, ran: Path) -> None:
    url = f"ext::sh -c {shlex.quote(trap(ran))}"
    run_git(jobs.world.workspace, "remote", "set-url", "origin", url)
    workspace = await jobs.prepare(sync_failure="warn")
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.COMPLETED_UNPUSHED
    assert not ran.exists()


async def test_links_are_kept_as_links(jobs: Jobs, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    workspace = await jobs.prepare()
    (workspace.path / "link").symlink_to(secret)
    (workspace.path / "folder").symlink_to(tmp_path)
    await jobs.conclude(workspace)
    assert jobs.source_says("show", f"{BRANCH}:link") == str(secret)
    assert "secret" not in jobs.source_says("ls-tree", "-r", "--name-only", BRANCH)
    await jobs.workspaces.release(workspace)
    assert secret.read_text() == "hidden"


async def test_a_copy_that_points_to_another_repository_brings_nothing_of_it(
    jobs: Jobs, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    run_git(private, "init", "-q", "-b", "main")
    commit(private, "secret", "hidden")
    workspace = await jobs.prepare()
    own = workspace.path / ".git"
    own.rename(tmp_path / "own")
    own.write_text(f"gitdir: {private / '.git'}\n")
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.PUSHED
    assert jobs.source_says("ls-tree", "--name-only", BRANCH) == "new\nstory"
    assert jobs.source_says("rev-parse", f"{BRANCH}^") == workspace.base
    await jobs.workspaces.release(workspace)
    assert run_git(private, "log", "--format=%s") == "secret: hidden"


async def test_a_copy_with_its_repository_moved_into_a_link_brings_nothing(
    tmp_path: Path,
) -> None:
    world = make_world(tmp_path)
    jobs = jobs_in(world, tmp_path)
    workspace = await jobs.prepare()
    own = workspace.path / ".git"
    own.rename(tmp_path / "own")
    own.symlink_to(world.colleague / ".git")
    commit(world.colleague, "story", "not for you")
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    assert "repository is gone" in report.detail
    assert jobs.source_says("log", "--format=%s", BRANCH) == "Wrote a chapter.\nstory: once"


async def test_names_of_any_bytes_are_kept(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    name = b"caf\xe9\n:(exclude)*"
    Path(bytes(workspace.path).decode(), name.decode(errors="surrogateescape")).write_text("x")
    assert (await jobs.conclude(workspace)).status is WorkStatus.PUSHED
    assert jobs.source_says("ls-tree", "-r", "--name-only", BRANCH).count("\n") == 1


async def test_a_push_out_of_habit_reaches_nobody(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    jobs = jobs_in(world, tmp_path)
    workspace = await jobs.prepare()
    commit(workspace.path, "story", "pushed")
    with pytest.raises(Exception, match="push"):
        run_git(workspace.path, "push", "origin", "HEAD:main")
    assert run_git(world.workspace, "log", "--format=%s", "main") == "story: once"
