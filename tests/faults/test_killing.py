"""`kill -9` at any moment: what clients were told is true afterwards, and nothing is doubled."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from hermes.testing.fake_provider import FakeProvider
from tests.faults import promises
from tests.faults.chance import a_seed
from tests.faults.clients import Crowd
from tests.faults.planned_model import PlannedModel, executions, plan
from tests.faults.served import configure, serving, until

HOMES = 2
ROUNDS = 51
RESUMED_ROUNDS = 10
LONGEST_LIFE = 0.9
SLOWEST_START = 15.0
"""A start takes less than two seconds; the machine of a test may have other things to do."""


async def killed_again_and_again(
    home: Path, provider: FakeProvider, chance: random.Random, rounds: int
) -> list[float]:
    """Work, kill, start, check, and so on; how long each start took."""
    crowd, starts = Crowd(chance), []
    for number in range(rounds + 1):
        async with serving(home, provider) as served:
            starts.append(served.started_in)
            try:
                await promises.hold(served, crowd.told)
            except Exception as error:
                error.add_note(f"{home.name}, after kill {number}")
                raise
            crowd.told.clear()
            if number == rounds:
                break
            working = asyncio.create_task(crowd.work(served))
            await asyncio.sleep(chance.random() * LONGEST_LIFE)
            await served.kill()
            await working
    return starts


@pytest.mark.timeout(600)
async def test_over_a_hundred_kills_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    seed = a_seed()
    async with FakeProvider(PlannedModel()) as provider:
        starts = await asyncio.gather(
            *(
                killed_again_and_again(
                    tmp_path / f"home{n}", provider, random.Random(seed + n), ROUNDS
                )
                for n in range(HOMES)
            )
        )
    took = sorted(took for home in starts for took in home)
    print(f"{len(took)} starts: median {took[len(took) // 2]:.2f} s, {took[-1]:.2f} s at most")  # noqa: T201
    assert took[-1] < SLOWEST_START


@pytest.mark.timeout(300)
async def test_runs_that_go_on_after_a_kill_never_run_a_tool_again(tmp_path: Path) -> None:
    home, model = tmp_path / "home", PlannedModel()
    configure(home, "runs:\n  recovery: resume\n  max_attempts: 5\n")
    async with FakeProvider(model) as provider:
        await killed_again_and_again(home, provider, random.Random(a_seed()), RESUMED_ROUNDS)


async def test_a_run_that_goes_on_tells_the_model_that_the_outcome_of_its_tool_is_unknown(
    tmp_path: Path,
) -> None:
    home, model = tmp_path / "home", PlannedModel()
    configure(home, "runs:\n  recovery: resume\n")
    body = {"input": plan(words=3, tools=("first", "slow", "last"))}
    async with FakeProvider(model) as provider:
        async with serving(home, provider) as served:
            _, run = await served.answer("POST", "/v1/runs", json=body)

            async def is_in_the_middle() -> bool:
                return executions(home)["slow"] == 1

            await until(is_in_the_middle)
            await served.kill()
        async with serving(home, provider) as again:
            await promises.everything_settles(again)
            ended = await again.get(f"/v1/runs/{run['id']}")
            await promises.logs_of(again, [run["id"]])

    assert (ended["status"], ended["attempt"]) == ("completed", 2)
    assert ended["output"] == "word0 word1 word2 "
    assert model.unknown == {"slow"}
    assert executions(home) == {"first": 1, "slow": 1, "last": 1}
