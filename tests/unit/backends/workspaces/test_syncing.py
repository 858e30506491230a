"""Where work starts, with real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends.git import GitTimes, open_repository
from hermes.backends.workspaces.fetching import Fetches
from hermes.backends.workspaces.reports import SyncReport, SyncStatus
from hermes.backends.workspaces.syncing import Synced, SyncWish, sync, sync_checkout
from tests.unit.backends.repositories import ENVIRON, World, commit, make_world, run_git


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


async def status_of(world: World) -> SyncStatus:
    return (await sync_checkout(world.workspace, ENVIRON)).status


async def test_news_from_upstream_arrive(world: World) -> None:
    world.push("story", "once upon")
    assert await sync_checkout(world.workspace, ENVIRON) == SyncReport(SyncStatus.FAST_FORWARDED)
    assert (world.workspace / "story").read_text() == "once upon"


async def test_without_news_nothing_happens(world: World) -> None:
    assert await status_of(world) is SyncStatus.UP_TO_DATE


async def test_commits_not_yet_pushed_are_no_reason_to_complain(world: World) -> None:
    commit(world.workspace, "note", "mine")
    assert await status_of(world) is SyncStatus.UP_TO_DATE


async def test_diverged_histories_are_left_alone(world: World) -> None:
    commit(world.workspace, "note", "mine")
    world.push("story", "theirs")
    before = run_git(world.workspace, "rev-parse", "HEAD")
    report = await sync_checkout(world.workspace, ENVIRON)
    assert report.status is SyncStatus.DIVERGED
    assert report.is_stale
    assert "1 commits here and 1 upstream" in report.detail
    assert run_git(world.workspace, "rev-parse", "HEAD") == before


async def test_local_changes_are_never_overwritten(world: World) -> None:
    (world.workspace / "story").write_text("my draft")
    world.push("story", "theirs")
    assert await status_of(world) is SyncStatus.DIRTY
    assert (world.workspace / "story").read_text() == "my draft"


async def test_an_untracked_file_is_never_overwritten(world: World) -> None:
    (world.workspace / "plan").write_text("my plan")
    world.push("plan", "theirs")
    report = await sync_checkout(world.workspace, ENVIRON)
    assert report.status is SyncStatus.DIRTY
    assert "plan" in report.detail
    assert (world.workspace / "plan").read_text() == "my plan"


async def test_an_untracked_file_elsewhere_does_not_stand_in_the_way(world: World) -> None:
    (world.workspace / "scratch").write_text("mine")
    world.push("story", "theirs")
    assert await status_of(world) is SyncStatus.FAST_FORWARDED
    assert (world.workspace / "scratch").read_text() == "mine"


async def test_an_upstream_that_is_gone_is_reported_in_gits_words(world: World) -> None:
    world.upstream.rename(world.upstream.with_name("moved.git"))
    report = await sync_checkout(world.workspace, ENVIRON)
    assert report.status is SyncStatus.UNREACHABLE
    assert "upstream.git" in report.detail


async def test_a_fetch_that_hangs_is_given_up(world: World, tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nexec sleep 600\n")
    ssh.chmod(0o700)
    run_git(world.workspace, "remote", "set-url", "origin", "ssh://nowhere.invalid/x.git")
    environ = ENVIRON | {"PATH": f"{tmp_path}:{ENVIRON['PATH']}"}
    report = await sync_checkout(world.workspace, environ, GitTimes(fetch=0.5))
    assert report.status is SyncStatus.UNREACHABLE
    assert "within 0.5 s" in report.detail


async def test_a_repository_cannot_run_its_hooks(world: World) -> None:
    hook = world.workspace / ".git" / "hooks" / "post-merge"
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    hook.chmod(0o700)
    world.push("story", "theirs")
    assert await status_of(world) is SyncStatus.FAST_FORWARDED
    assert not (world.workspace / "hooked").exists()


async def test_a_branch_without_upstream_is_named_so(world: World) -> None:
    run_git(world.workspace, "switch", "-q", "-c", "mine")
    assert await status_of(world) is SyncStatus.NO_UPSTREAM


async def test_a_detached_head_has_no_upstream(world: World) -> None:
    run_git(world.workspace, "switch", "-q", "--detach")
    assert await status_of(world) is SyncStatus.NO_UPSTREAM


async def test_a_clone_of_an_empty_upstream_has_nothing_to_sync(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    run_git(tmp_path, "clone", "-q", "empty.git", "workspace")
    report = await sync_checkout(tmp_path / "workspace", ENVIRON)
    assert report.status in (SyncStatus.NO_UPSTREAM, SyncStatus.UNREACHABLE)


async def test_a_plain_folder_is_no_repository(tmp_path: Path) -> None:
    assert (await sync_checkout(tmp_path, ENVIRON)).status is SyncStatus.NOT_A_REPOSITORY


async def test_a_folder_that_is_not_there_is_no_repository(tmp_path: Path) -> None:
    report = await sync_checkout(tmp_path / "missing", ENVIRON)
    assert report.status is SyncStatus.NOT_A_REPOSITORY


async def test_a_folder_inside_somebody_elses_repository_is_left_alone(world: World) -> None:
    inner = world.workspace / "inner"
    inner.mkdir()
    world.push("story", "theirs")
    assert (await sync_checkout(inner, ENVIRON)).status is SyncStatus.NOT_A_REPOSITORY
    assert (world.workspace / "story").read_text() == "once"


async def test_without_git_there_is_no_repository(world: World, tmp_path: Path) -> None:
    report = await sync_checkout(world.workspace, {"PATH": str(tmp_path)})
    assert report.status is SyncStatus.NOT_A_REPOSITORY
    assert "not installed" in report.detail


async def test_a_lock_that_was_left_behind_is_named(world: World) -> None:
    (world.workspace / ".git" / "index.lock").touch()
    world.push("story", "theirs")
    report = await sync_checkout(world.workspace, ENVIRON)
    assert report.status is SyncStatus.LOCKED
    assert report.is_stale
    assert "index.lock" in report.detail
    assert (world.workspace / "story").read_text() == "once"


async def start_of(world: World, wish: SyncWish, fetches: Fetches | None = None) -> Synced:
    repository = await open_repository(world.workspace, ENVIRON)
    return await sync(repository, wish, fetches or Fetches())


def head_of(folder: Path, name: str = "HEAD") -> str:
    return run_git(folder, "rev-parse", name)


async def test_a_copy_starts_from_the_news_and_the_checkout_stays(world: World) -> None:
    world.push("story", "theirs")
    synced = await start_of(world, SyncWish())
    assert synced == Synced(SyncReport(SyncStatus.FAST_FORWARDED), head_of(world.colleague))
    assert (world.workspace / "story").read_text() == "once"


async def test_a_copy_starts_from_commits_that_nobody_has_yet(world: World) -> None:
    commit(world.workspace, "note", "mine")
    synced = await start_of(world, SyncWish())
    assert synced == Synced(SyncReport(SyncStatus.UP_TO_DATE), head_of(world.workspace))


async def test_a_branch_that_only_the_remote_has_is_found(world: World) -> None:
    run_git(world.colleague, "switch", "-q", "-c", "other")
    commit(world.colleague, "story", "another one")
    run_git(world.colleague, "push", "-q", "-u", "origin", "other")
    synced = await start_of(world, SyncWish(branch="other"))
    assert synced == Synced(SyncReport(SyncStatus.UP_TO_DATE), head_of(world.colleague))


async def test_a_branch_that_is_not_checked_out_is_found(world: World) -> None:
    run_git(world.workspace, "branch", "other")
    commit(world.workspace, "story", "mine")
    synced = await start_of(world, SyncWish(branch="other"))
    assert synced.start == head_of(world.workspace, "other")


@pytest.mark.parametrize("branch", ["nowhere", "--all", "main/", "../HEAD"])
async def test_a_branch_that_nobody_has_is_named_so(world: World, branch: str) -> None:
    synced = await start_of(world, SyncWish(branch=branch))
    assert synced == Synced(SyncReport(SyncStatus.NO_SUCH_BRANCH), None)


async def test_a_shared_folder_on_another_branch_is_never_switched(world: World) -> None:
    run_git(world.workspace, "switch", "-q", "-c", "mine")
    synced = await start_of(world, SyncWish(branch="main", moves_checkout=True))
    assert synced.report.status is SyncStatus.OTHER_BRANCH
    assert synced.report.is_stale
    assert run_git(world.workspace, "branch", "--show-current") == "mine"


async def test_who_wants_no_news_gets_none(world: World) -> None:
    world.push("story", "theirs")
    synced = await start_of(world, SyncWish(wants_news=False))
    assert synced == Synced(SyncReport(SyncStatus.SKIPPED), head_of(world.workspace))
