"""Fixtures of the tests with real CLI agents. `make test-cli` installs these and runs the tests.

All tests share one event loop and, unless they need one of their own, one gateway.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes.testing.fake_provider import FakeProvider
from tests.cli.leftovers import nothing_is_left
from tests.cli.scenes import Scenes
from tests.cli.stage import BIN, Playing, Stage, claude, codex, staged

RUNS = 12


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runs", type=int, default=RUNS, help="how many runs in a row leave nothing")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.timeout(120))


@pytest.fixture(scope="session", autouse=True)
def installed() -> Iterator[None]:
    missing = [name for name in ("claude", "codex") if not (BIN / name).exists()]
    if missing:
        pytest.exit(f"Not installed: {', '.join(missing)}. Run `make test-cli`.", returncode=1)
    yield


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playing() -> AsyncIterator[Playing]:
    scenes = Scenes()
    async with FakeProvider(scenes) as provider:
        yield Playing(scenes, provider)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(
    tmp_path_factory: pytest.TempPathFactory, playing: Playing
) -> AsyncIterator[Stage]:
    home = tmp_path_factory.mktemp("cli") / "home"
    agents = {
        "claude": claude(),
        "codex": codex(profile="read-only"),
        "reader": claude(profile="read-only"),
        "editor": claude(profile="edit"),
        "coder": codex(profile="edit"),
        "impatient": claude(idle_seconds=2),
    }
    async with staged(home, playing, agents) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """The gateway that all share; every test leaves nothing of its jobs."""
    yield shared_stage
    shared_stage.playing.scenes.forget()
    await nothing_is_left(shared_stage.home)
