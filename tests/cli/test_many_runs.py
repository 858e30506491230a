"""Run after run, nothing piles up. `make test-cli ARGS="-k many --runs 200"` for many of them."""

from __future__ import annotations

import asyncio

import pytest

from hermes.testing.replies import Text
from tests.cli.leftovers import job_processes, nothing_is_left
from tests.cli.stage import Stage, unique

AT_ONCE = 2


@pytest.mark.timeout(1800)
async def test_many_runs_in_a_row_leave_no_process_and_no_folder(
    stage: Stage, request: pytest.FixtureRequest
) -> None:
    count = request.config.getoption("--runs")
    before = set(stage.temporary.iterdir())
    turns = iter(range(count))

    async def ask_in_turn() -> None:
        for number in turns:
            word = unique("many")
            stage.on(word, Text(f"Answer {number}."))
            model = "codex/scripted" if number % 4 == 3 else "claude/haiku"
            assert await stage.say(model, word) == f"Answer {number}."

    await asyncio.gather(*(ask_in_turn() for _ in range(AT_ONCE)))

    await nothing_is_left(stage.home)
    assert job_processes(stage.home) == {}
    assert set(stage.temporary.iterdir()) <= before
