"""Places to work: made before a job, cleared away after it, the work kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.backends.git import Trouble
from hermes.backends.workspaces.reports import (
    SyncStatus,
    WorkspaceProblem,
    WorkspaceReport,
    WorkStatus,
)
from hermes.settings.cli_settings import CliWorkspaceSettings
from tests.unit.backends.repositories import World, commit, make_world, run_git
from tests.unit.backends.workspaces.jobs import JOB, Jobs, jobs_in

COPIES = ("clone", "worktree")
BRANCH = f"agent/{JOB}"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture(params=COPIES)
def jobs(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[Jobs]:
    """Whatever a job in a copy does, the operator's own checkout stays as it is."""
    made = jobs_in(world, tmp_path, request.param)
    before = _checkout(world)
    yield made
    assert _checkout(world) == before


def _checkout(world: World) -> tuple[str, str, str]:
    git = world.workspace
    return (
        run_git(git, "rev-parse", "--symbolic-full-name", "HEAD"),
        run_git(git, "status", "--porcelain"),
        (git / ".git" / "config").read_text(),
    )


async def test_a_chat_gets_an_empty_folder_of_its_own(world: World, tmp_path: Path) -> None:
    jobs = jobs_in(world, tmp_path, "none", repository=None)
    workspace = await jobs.prepare()
    assert list(workspace.path.iterdir()) == []
    assert workspace.path.stat().st_mode & 0o777 == 0o700
    (workspace.path / "note").write_text("thought")
    assert await jobs.conclude(workspace) == WorkspaceReport(status=WorkStatus.NOT_KEPT)
    await jobs.workspaces.release(workspace)
    assert not workspace.path.exists()


async def test_the_work_of_a_job_lands_on_its_branch(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "story").write_text("once upon")
    (workspace.path / "new").write_text("file")
    report = await jobs.conclude(workspace)
    await jobs.workspaces.release(workspace)
    assert report == WorkspaceReport(
        status=WorkStatus.COMMITTED, branch=BRANCH, commit=jobs.source_says("rev-parse", BRANCH)
    )
    assert jobs.source_says("show", f"{BRANCH}:story") == "once upon"
    assert jobs.source_says("show", f"{BRANCH}:new") == "file"
    assert jobs.source_says("rev-parse", f"{BRANCH}^") == workspace.base
    assert not (jobs.folder / "jobs" / JOB / "workspace").exists()
    assert jobs.source_says("worktree", "list").count("\n") == 0


async def test_the_commit_tells_who_did_it_at_which_cost(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("file")
    await jobs.conclude(workspace)
    told = jobs.source_says("log", "-1", "--format=%an|%s|%(trailers:only,unfold)", BRANCH)
    assert told.startswith("Hermes Gateway|Wrote a chapter.|Hermes-Run: run_1\nHermes-Job: job_1\n")
    assert "Hermes-Model: claude/haiku\nHermes-Tokens: 12\nHermes-Cost-USD: 0.500000" in told


async def test_a_job_that_changes_nothing_leaves_nothing(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    assert await jobs.conclude(workspace) == WorkspaceReport(status=WorkStatus.UNCHANGED)
    await jobs.workspaces.release(workspace)
    assert jobs.branches == []


async def test_a_file_that_was_removed_is_removed_on_the_branch(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "story").unlink()
    await jobs.conclude(workspace)
    assert jobs.source_says("ls-tree", "--name-only", BRANCH) == ""


async def test_a_change_that_keeps_size_and_time_of_a_file_is_seen(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "story").write_text("ONCE")
    await jobs.conclude(workspace)
    assert jobs.source_says("show", f"{BRANCH}:story") == "ONCE"


async def test_commits_of_the_agents_own_are_kept_as_they_are(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / ".gitignore").write_text("built\n")
    (workspace.path / "built").write_text("forced in")
    run_git(workspace.path, "add", "-f", "built", ".gitignore")
    run_git(workspace.path, "commit", "-q", "-m", "by the agent")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.COMMITTED
    assert jobs.source_says("log", "--format=%s", BRANCH) == "by the agent\nstory: once"
    assert jobs.source_says("show", f"{BRANCH}:built") == "forced in"
    assert jobs.branches == [f"refs/heads/{BRANCH}"]


async def test_what_the_agent_left_uncommitted_comes_on_top_of_its_commits(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    commit(workspace.path, "one", "1")
    (workspace.path / "two").write_text("2")
    await jobs.conclude(workspace)
    assert jobs.source_says("log", "--format=%s", BRANCH).splitlines() == [
        "Wrote a chapter.",
        "one: 1",
        "story: once",
    ]


async def test_history_that_the_agent_rewrote_is_left_out_but_not_its_files(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    run_git(workspace.path, "checkout", "-q", "--orphan", "elsewhere")
    commit(workspace.path, "story", "from nowhere")
    report = await jobs.conclude(workspace)
    assert "do not go on from its start" in report.detail
    assert report.kept_at is not None
    assert str(report.kept_at) in report.detail
    assert jobs.source_says("rev-parse", f"{BRANCH}^") == workspace.base
    assert jobs.source_says("show", f"{BRANCH}:story") == "from nowhere"


async def test_an_unfinished_merge_is_kept_and_told(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    run_git(workspace.path, "checkout", "-q", "-b", "theirs")
    commit(workspace.path, "story", "theirs")
    run_git(workspace.path, "checkout", "-q", "-b", "ours", "HEAD^")
    commit(workspace.path, "story", "ours")
    with pytest.raises(Exception, match="merge"):
        run_git(workspace.path, "merge", "-q", "theirs")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.COMMITTED
    assert "a merge was left unfinished" in report.detail
    assert "<<<<<<<" in jobs.source_says("show", f"{BRANCH}:story")


async def test_a_lock_left_in_the_copy_is_no_hindrance(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (Path(run_git(workspace.path, "rev-parse", "--absolute-git-dir")) / "index.lock").touch()
    (workspace.path / "new").write_text("file")
    assert (await jobs.conclude(workspace)).status is WorkStatus.COMMITTED


async def test_a_job_starts_from_the_news_of_the_remote(jobs: Jobs) -> None:
    jobs.world.push("story", "theirs")
    workspace = await jobs.prepare()
    assert (workspace.path / "story").read_text() == "theirs"
    assert workspace.sync is not None
    assert workspace.sync.status is SyncStatus.FAST_FORWARDED


async def test_a_job_on_an_old_copy_does_not_begin(jobs: Jobs) -> None:
    jobs.world.upstream.rename(jobs.world.upstream.with_name("moved.git"))
    with pytest.raises(WorkspaceProblem, match=r"upstream\.git") as problem:
        await jobs.prepare()
    assert problem.value.status is SyncStatus.UNREACHABLE
    assert not (jobs.folder / "jobs").exists()


async def test_a_job_on_an_old_copy_begins_with_a_warning_if_that_is_wanted(jobs: Jobs) -> None:
    jobs.world.upstream.rename(jobs.world.upstream.with_name("moved.git"))
    workspace = await jobs.prepare(sync_failure="warn")
    assert workspace.warning is not None
    assert workspace.warning.startswith("unreachable: ")
    assert (workspace.path / "story").read_text() == "once"


async def test_diverged_histories_are_a_problem_of_the_operator(jobs: Jobs) -> None:
    commit(jobs.world.workspace, "note", "mine")
    jobs.world.push("story", "theirs")
    with pytest.raises(WorkspaceProblem, match="1 commits here and 1 upstream"):
        await jobs.prepare()


async def test_a_detached_head_is_where_a_job_starts(world: World, tmp_path: Path) -> None:
    run_git(world.workspace, "switch", "-q", "--detach")
    for mode in COPIES:
        workspace = await jobs_in(world, tmp_path, mode).prepare(f"job_{mode}")
        assert workspace.base == run_git(world.workspace, "rev-parse", "HEAD")


async def test_a_branch_checked_out_elsewhere_can_be_worked_on(jobs: Jobs) -> None:
    workspace = await jobs.prepare(branch="main")
    (workspace.path / "new").write_text("file")
    assert (await jobs.conclude(workspace)).status is WorkStatus.COMMITTED


async def test_a_local_change_of_the_operators_is_not_in_the_copy(
    world: World, tmp_path: Path
) -> None:
    (world.workspace / "story").write_text("my draft")
    for mode in COPIES:
        workspace = await jobs_in(world, tmp_path, mode).prepare(f"job_{mode}")
        assert (workspace.path / "story").read_text() == "once"
    assert (world.workspace / "story").read_text() == "my draft"


async def test_an_empty_repository_gets_its_first_commit(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main", "workspace")
    world = World(tmp_path / "none", tmp_path / "workspace", tmp_path / "none")
    jobs = jobs_in(world, tmp_path)
    workspace = await jobs.prepare()
    assert workspace.base is None
    (workspace.path / "first").write_text("line")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.COMMITTED
    assert jobs.source_says("log", "--format=%s", BRANCH) == "Wrote a chapter."
    other = await jobs.prepare("job_2")
    assert (await jobs.conclude(other)).status is WorkStatus.UNCHANGED


async def test_a_worktree_of_an_empty_repository_comes_with_advice(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main", "workspace")
    world = World(tmp_path / "none", tmp_path / "workspace", tmp_path / "none")
    with pytest.raises(WorkspaceProblem, match="use the mode clone"):
        await jobs_in(world, tmp_path, "worktree").prepare()


async def test_a_bare_repository_can_be_copied(world: World, tmp_path: Path) -> None:
    for mode in COPIES:
        jobs = jobs_in(world, tmp_path, mode, repository=world.upstream)
        workspace = await jobs.prepare(f"job_{mode}")
        (workspace.path / "new").write_text(mode)
        assert (await jobs.conclude(workspace)).status is WorkStatus.COMMITTED
        await jobs.workspaces.release(workspace)
        assert run_git(world.upstream, "show", f"agent/job_{mode}:new") == mode


@pytest.mark.parametrize("mode", [*COPIES, "shared"])
async def test_what_is_no_repository_is_named(world: World, tmp_path: Path, mode: str) -> None:
    missing = tmp_path / "missing"
    settings = CliWorkspaceSettings(mode=mode, repository=missing)  # type: ignore[arg-type]
    jobs = Jobs(world, tmp_path, settings)
    with pytest.raises(WorkspaceProblem, match="missing"):
        await jobs.prepare()
    with pytest.raises(WorkspaceProblem, match="needs a repository"):
        await jobs.prepare(repository=None)


async def test_many_jobs_on_one_repository_do_not_meet(jobs: Jobs) -> None:
    jobs.world.push("story", "theirs")

    async def work(number: int) -> WorkspaceReport:
        workspace = await jobs.prepare(f"job_{number}", push=True)
        (workspace.path / "story").write_text(str(number))
        report = await jobs.conclude(workspace)
        await jobs.workspaces.release(workspace)
        return report

    reports = await asyncio.gather(*(work(number) for number in range(6)))
    assert {report.status for report in reports} == {WorkStatus.PUSHED}
    for number in range(6):
        assert run_git(jobs.world.upstream, "show", f"agent/job_{number}:story") == str(number)
    assert jobs.source_says("worktree", "list").count("\n") == 0


async def test_a_job_that_goes_on_finds_what_it_had_done(jobs: Jobs) -> None:
    first = await jobs.prepare()
    (first.path / "one").write_text("1")
    await jobs.conclude(first)
    await jobs.workspaces.release(first)
    again = await jobs.prepare()
    assert (again.path / "one").read_text() == "1"
    (again.path / "two").write_text("2")
    assert (await jobs.conclude(again)).status is WorkStatus.COMMITTED
    assert jobs.source_says("ls-tree", "--name-only", BRANCH) == "one\nstory\ntwo"


async def test_releasing_twice_and_without_a_folder_is_fine(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "closed").mkdir(mode=0o500)
    (workspace.path / "outside").symlink_to(jobs.world.workspace)
    await jobs.workspaces.release(workspace)
    await jobs.workspaces.release(workspace)
    assert not workspace.path.exists()
    assert (jobs.world.workspace / "story").exists()


async def test_a_job_whose_preparation_is_cancelled_leaves_nothing(jobs: Jobs) -> None:
    preparing = asyncio.ensure_future(jobs.prepare())
    while not (jobs.folder / "jobs" / JOB).exists():
        await asyncio.sleep(0)
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    assert list((jobs.folder / "jobs" / JOB).iterdir()) == []
    assert jobs.source_says("worktree", "list").count("\n") == 0


async def test_changes_that_nobody_wants_to_keep_are_not_kept(jobs: Jobs) -> None:
    workspace = await jobs.prepare(commit=False)
    (workspace.path / "new").write_text("file")
    assert await jobs.conclude(workspace) == WorkspaceReport(status=WorkStatus.NOT_KEPT)
    assert jobs.branches == []


async def test_a_folder_that_was_replaced_is_not_followed(jobs: Jobs, tmp_path: Path) -> None:
    workspace = await jobs.prepare()
    workspace.path.rename(tmp_path / "moved")
    workspace.path.symlink_to(jobs.world.colleague)
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.LOST
    await jobs.workspaces.release(workspace)
    assert (jobs.world.colleague / "story").exists()


async def test_work_that_cannot_land_is_set_aside_with_its_files(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("precious")
    jobs.source_says("branch", "agent")
    report = await jobs.conclude(workspace)
    await jobs.workspaces.release(workspace)
    assert report.status is WorkStatus.SET_ASIDE
    assert report.trouble is Trouble.LOCKED
    assert report.kept_at is not None
    assert str(report.kept_at) in report.detail
    assert (report.kept_at / "new").read_text() == "precious"
    assert jobs.source_says("worktree", "list").count("\n") == 0


async def test_work_that_can_be_put_nowhere_is_said_to_be_lost(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("precious")
    jobs.source_says("branch", "agent")
    (jobs.folder / "kept").write_text("no folder")
    report = await jobs.conclude(workspace)
    assert (report.status, report.kept_at) == (WorkStatus.LOST, None)
    assert "could not be moved away" in report.detail


async def test_work_set_aside_twice_for_one_job_is_there_twice(jobs: Jobs) -> None:
    jobs.source_says("branch", "agent")
    kept = []
    for _ in range(2):
        workspace = await jobs.prepare()
        (workspace.path / "new").write_text("precious")
        kept.append((await jobs.conclude(workspace)).kept_at)
        await jobs.workspaces.release(workspace)
    assert kept == [jobs.folder / "kept" / JOB, jobs.folder / "kept" / f"{JOB}-2"]


async def test_a_branch_that_somebody_else_filled_is_not_overwritten(jobs: Jobs) -> None:
    workspace = await jobs.prepare()
    (workspace.path / "new").write_text("mine")
    commit(jobs.world.colleague, "new", "theirs")
    jobs.source_says("fetch", "-q", str(jobs.world.colleague), f"main:{BRANCH}")
    report = await jobs.conclude(workspace)
    assert report.status is WorkStatus.SET_ASIDE
    assert report.trouble is Trouble.REJECTED
    assert jobs.source_says("show", f"{BRANCH}:new") == "theirs"


async def test_a_shared_folder_is_worked_in_by_one_after_the_other(
    world: World, tmp_path: Path
) -> None:
    jobs = jobs_in(world, tmp_path, "shared")
    world.push("story", "theirs")
    first = await jobs.prepare()
    assert first.path == world.workspace
    assert (first.path / "story").read_text() == "theirs"
    waiting = asyncio.ensure_future(jobs.prepare("job_2"))
    assert await jobs.conclude(first) == WorkspaceReport(status=WorkStatus.IN_PLACE)
    assert not waiting.done()
    await jobs.workspaces.release(first)
    await jobs.workspaces.release(first)
    second = await asyncio.wait_for(waiting, 30)
    assert second.path == world.workspace
    await jobs.workspaces.release(second)
    assert (world.workspace / "story").exists()


async def test_a_dirty_shared_folder_is_kept_and_the_next_job_can_have_it(
    world: World, tmp_path: Path
) -> None:
    jobs = jobs_in(world, tmp_path, "shared")
    (world.workspace / "story").write_text("my draft")
    world.push("story", "theirs")
    with pytest.raises(WorkspaceProblem) as problem:
        await jobs.prepare()
    assert problem.value.status is SyncStatus.DIRTY
    workspace = await asyncio.wait_for(jobs.prepare(sync_failure="warn"), 30)
    assert workspace.warning is not None
    assert (workspace.path / "story").read_text() == "my draft"


async def test_a_shared_folder_needs_no_git(world: World, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    workspace = await jobs_in(world, tmp_path, "shared", repository=plain).prepare()
    assert workspace.path == plain
    assert workspace.warning is None
