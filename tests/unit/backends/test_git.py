"""Syncing a workspace, with real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends import git
from hermes.backends.git import SyncReport, SyncStatus, sync
from tests.unit.backends.repositories import ENVIRON, World, commit, make_world, run_git


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


async def status_of(world: World) -> SyncStatus:
    return (await sync(world.workspace, ENVIRON)).status


async def test_news_from_upstream_arrive(world: World) -> None:
    world.push("story", "once upon")
    assert await sync(world.workspace, ENVIRON) == SyncReport(SyncStatus.FAST_FORWARDED)
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
    report = await sync(world.workspace, ENVIRON)
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
    report = await sync(world.workspace, ENVIRON)
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
    report = await sync(world.workspace, ENVIRON)
    assert report.status is SyncStatus.UNREACHABLE
    assert "upstream.git" in report.detail


async def test_a_fetch_that_hangs_is_given_up(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "FETCH_SECONDS", 0.5)
    helper = tmp_path / "git-remote-slow"
    helper.write_text("#!/bin/sh\nexec sleep 600\n")
    helper.chmod(0o700)
    run_git(world.workspace, "remote", "set-url", "origin", "slow://nowhere")
    environ = ENVIRON | {"PATH": f"{tmp_path}:{ENVIRON['PATH']}"}
    report = await sync(world.workspace, environ)
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
    report = await sync(tmp_path / "workspace", ENVIRON)
    assert report.status in (SyncStatus.NO_UPSTREAM, SyncStatus.UNREACHABLE)


async def test_a_plain_folder_is_no_repository(tmp_path: Path) -> None:
    assert (await sync(tmp_path, ENVIRON)).status is SyncStatus.NOT_A_REPOSITORY


async def test_a_folder_that_is_not_there_is_no_repository(tmp_path: Path) -> None:
    report = await sync(tmp_path / "missing", ENVIRON)
    assert report.status is SyncStatus.NOT_A_REPOSITORY


async def test_a_folder_inside_somebody_elses_repository_is_left_alone(world: World) -> None:
    inner = world.workspace / "inner"
    inner.mkdir()
    world.push("story", "theirs")
    assert (await sync(inner, ENVIRON)).status is SyncStatus.NOT_A_REPOSITORY
    assert (world.workspace / "story").read_text() == "once"


async def test_without_git_there_is_no_repository(world: World, tmp_path: Path) -> None:
    report = await sync(world.workspace, {"PATH": str(tmp_path)})
    assert report.status is SyncStatus.NOT_A_REPOSITORY
    assert "not installed" in report.detail
