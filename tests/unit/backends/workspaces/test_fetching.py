"""News are fetched once for everybody who wants them at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hermes.backends.git import GitFailed, Repository, Trouble, open_repository
from hermes.backends.workspaces.fetching import Fetches
from tests.unit.backends.repositories import ENVIRON, World, make_world, run_git


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
async def repository(world: World) -> Repository:
    return await open_repository(world.workspace, ENVIRON)


def known(world: World) -> str:
    """The last thing the workspace knows of its upstream."""
    return run_git(world.workspace, "log", "-1", "--format=%s", "origin/main")


async def test_right_after_a_fetch_there_is_none(world: World, repository: Repository) -> None:
    clock = Clock()
    fetches = Fetches(debounce_seconds=15, clock=clock)
    await fetches.fetch(repository, "origin")
    world.push("story", "new")
    clock.now += 14
    await fetches.fetch(repository, "origin")
    assert known(world) == "story: once"
    clock.now += 2
    await fetches.fetch(repository, "origin")
    assert known(world) == "story: new"


async def test_a_failure_is_shared_by_those_who_waited_and_then_forgotten(
    world: World, repository: Repository
) -> None:
    clock = Clock()

    class Counted(Fetches):
        calls = 0

        async def _failure(self, repository: Repository, remote: str) -> GitFailed | None:
            self.calls += 1
            failure = await super()._failure(repository, remote)
            clock.now += 1
            return failure

    fetches = Counted(clock=clock)
    moved = world.upstream.rename(world.upstream.with_name("moved.git"))
    three = await asyncio.gather(
        *(fetches.fetch(repository, "origin") for _ in range(3)), return_exceptions=True
    )
    assert [failed.trouble for failed in three if isinstance(failed, GitFailed)] == [
        Trouble.UNREACHABLE
    ] * 3
    assert fetches.calls == 1
    moved.rename(world.upstream)
    clock.now += 1
    await fetches.fetch(repository, "origin")
    assert fetches.calls == 2


async def test_another_program_to_fetch_with_is_not_started(
    world: World, repository: Repository, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    run_git(world.workspace, "config", "remote.origin.uploadpack", f"touch {ran}; git-upload-pack")
    await Fetches().fetch(repository, "origin")
    assert not ran.exists()
