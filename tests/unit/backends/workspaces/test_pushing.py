"""Work that is to be pushed: it is on its branch here, whatever the remote does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends.git import GitTimes, Trouble
from hermes.backends.workspaces.reports import WorkspaceReport, WorkStatus
from tests.unit.backends.repositories import ENVIRON, World, commit, make_world, run_git
from tests.unit.backends.workspaces.jobs import JOB, Jobs, jobs_in

BRANCH = f"agent/{JOB}"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture(params=["clone", "worktree"])
def jobs(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Jobs:
    return jobs_in(world, tmp_path, request.param, push=True, sync_failure="warn")


async def work(jobs: Jobs) -> WorkspaceReport:
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("precious")
    report = await jobs.conclude(workspace)
    await jobs.workspaces.release(workspace)
    return report


def assert_kept(jobs: Jobs, report: WorkspaceReport, trouble: Trouble) -> None:
    assert (report.status, report.trouble) == (WorkStatus.COMPLETED_UNPUSHED, trouble)
    assert report.branch == BRANCH
    assert report.commit == jobs.source_says("rev-parse", BRANCH)
    assert jobs.source_says("show", f"{BRANCH}:new") == "precious"


def stub_ssh(folder: Path, script: str) -> dict[str, str]:
    """An environment whose `ssh` does as the script says."""
    (folder / "bin").mkdir()
    ssh = folder / "bin" / "ssh"
    ssh.write_text(f"#!/bin/sh\n{script}\n")
    ssh.chmod(0o700)
    return ENVIRON | {"PATH": f"{ssh.parent}:{ENVIRON['PATH']}"}


async def test_the_branch_is_pushed_and_no_other(jobs: Jobs) -> None:
    before = run_git(jobs.world.upstream, "rev-parse", "main")
    report = await work(jobs)
    assert report.status is WorkStatus.PUSHED
    assert run_git(jobs.world.upstream, "rev-parse", BRANCH) == report.commit
    assert run_git(jobs.world.upstream, "rev-parse", "main") == before


async def test_a_remote_with_other_work_under_that_name_keeps_it(jobs: Jobs) -> None:
    commit(jobs.world.colleague, "new", "theirs")
    run_git(jobs.world.colleague, "push", "-q", "origin", f"HEAD:refs/heads/{BRANCH}")
    report = await work(jobs)
    assert_kept(jobs, report, Trouble.REJECTED)
    assert run_git(jobs.world.upstream, "show", f"{BRANCH}:new") == "theirs"


async def test_a_remote_that_declines_is_named(jobs: Jobs) -> None:
    hook = jobs.world.upstream / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho not on a friday >&2\nexit 1\n")
    hook.chmod(0o700)
    report = await work(jobs)
    assert_kept(jobs, report, Trouble.REJECTED)
    assert "not on a friday" in report.detail


async def test_a_remote_that_is_gone_is_named(jobs: Jobs) -> None:
    jobs.world.upstream.rename(jobs.world.upstream.with_name("moved.git"))
    assert_kept(jobs, await work(jobs), Trouble.UNREACHABLE)


async def test_a_repository_without_a_remote_is_named(jobs: Jobs) -> None:
    run_git(jobs.world.workspace, "remote", "remove", "origin")
    assert_kept(jobs, await work(jobs), Trouble.UNREACHABLE)


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("echo 'git@host: Permission denied (publickey).' >&2; exit 255", Trouble.UNAUTHORIZED),
        ("echo 'ssh: Could not resolve hostname host' >&2; exit 255", Trouble.UNREACHABLE),
        ("exec sleep 600", Trouble.TIMED_OUT),
    ],
)
async def test_a_remote_behind_ssh_that_fails_is_named(
    world: World, tmp_path: Path, script: str, trouble: Trouble
) -> None:
    run_git(world.workspace, "remote", "set-url", "origin", "ssh://git@host.invalid/x.git")
    settings = jobs_in(world, tmp_path, push=True, sync=False).settings
    environ = stub_ssh(tmp_path, script)
    jobs = Jobs(world, tmp_path, settings, environ, GitTimes(push=0.5))
    assert_kept(jobs, await work(jobs), trouble)


async def test_nobody_is_asked_for_a_password(world: World, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    environ = stub_ssh(tmp_path, f'echo "$@" > {asked}; exit 255')
    run_git(world.workspace, "remote", "set-url", "origin", "ssh://git@host.invalid/x.git")
    settings = jobs_in(world, tmp_path, push=True, sync=False).settings
    await work(Jobs(world, tmp_path, settings, environ))
    assert "-oBatchMode=yes" in asked.read_text()


async def test_a_password_in_an_address_is_not_told(jobs: Jobs) -> None:
    url = "https://me:hunter2-secret@host.invalid/x.git"
    run_git(jobs.world.workspace, "remote", "set-url", "origin", url)
    report = await work(jobs)
    assert report.status is WorkStatus.COMPLETED_UNPUSHED
    assert "hunter2" not in report.detail
