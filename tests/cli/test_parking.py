"""A decision that comes late finds its process gone, and holds for the next one all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.testing.replies import Text
from tests.cli.leftovers import job_processes, nothing_is_left
from tests.cli.stage import Playing, Stage, claude, codex, shell, staged, unique
from tests.faults.served import until

MODELS = ("editor/haiku", "coder/scripted")
AGENTS = {"editor": claude(profile="edit"), "coder": codex(profile="edit")}


async def _asked(stage: Stage, model: str, sign: Path) -> str:
    """A run that waits for a decision. Told of it later, the model makes its call again."""
    word = unique("late")
    call = shell(model, f"echo once >> {sign}")
    stage.on(word, call, call, Text("It is done."))
    run_id = await stage.run(model, word)
    await stage.in_state(run_id, "waiting_for_approval")
    return run_id


async def _allowed(stage: Stage, run_id: str, sign: Path) -> None:
    await stage.decide(run_id, "once")
    run = await stage.in_state(run_id, "completed")
    assert run["output"].endswith("It is done.")
    assert sign.read_text() == "once\n"


@pytest.mark.parametrize("model", MODELS)
async def test_a_process_is_not_kept_for_ever_and_the_decision_still_counts(
    playing: Playing, tmp_path: Path, model: str
) -> None:
    sign = tmp_path / "sign"
    async with staged(tmp_path / "home", playing, AGENTS, park_seconds=0.5) as stage:
        run_id = await _asked(stage, model, sign)

        async def is_gone() -> bool:
            return not job_processes(stage.home)

        await until(is_gone)
        assert not sign.exists()
        await _allowed(stage, run_id, sign)
        await nothing_is_left(stage.home)


@pytest.mark.parametrize("model", MODELS)
async def test_a_decision_after_a_restart_still_counts(
    playing: Playing, tmp_path: Path, model: str
) -> None:
    home, sign = tmp_path / "home", tmp_path / "sign"
    async with staged(home, playing, AGENTS) as stage:
        run_id = await _asked(stage, model, sign)
        await stage.served.kill()

    async with staged(home, playing, AGENTS) as stage:
        await _allowed(stage, run_id, sign)
        await nothing_is_left(home)
