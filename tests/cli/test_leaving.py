"""A client that leaves, or says stop, ends the CLI and everything it started."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hermes.testing.replies import Text
from tests.cli.leftovers import job_folders, job_processes, nothing_is_left
from tests.cli.stage import Stage, shell, unique
from tests.faults.served import until

editing = pytest.mark.parametrize("model", ["editor/haiku", "coder/scripted"])
both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


@both
async def test_leaving_during_the_text_leaves_no_process(stage: Stage, model: str) -> None:
    word = unique("endless")
    stage.on(word, Text(pieces=["on and "] * 1000, interval=0.1))
    left = stage.playing.provider.disconnects

    body = {"model": model, "messages": [{"role": "user", "content": word}], "stream": True}
    async with stage.post("/v1/chat/completions", body) as answer:
        async with asyncio.timeout(30):
            await answer.content.readuntil(b"on and ")
        assert job_processes(stage.home)
        assert job_folders(stage.home)
        answer.close()

    await nothing_is_left(stage.home, within=6)
    await stage.playing.provider.wait_for_disconnects(left + 1, within=6)


@editing
async def test_stopping_while_a_shell_runs_leaves_no_process(
    stage: Stage, tmp_path: Path, model: str
) -> None:
    run_id = await _shell_running(stage, model, tmp_path / "started")

    status, run = await stage.served.answer("POST", f"/v1/runs/{run_id}/stop")

    assert (status, run["status"]) == (200, "cancelled")
    await nothing_is_left(stage.home, within=6)


@editing
async def test_leaving_while_a_shell_runs_leaves_no_process(
    stage: Stage, tmp_path: Path, model: str
) -> None:
    run_id = await _shell_running(stage, model, tmp_path / "started", disconnect="cancel")

    async with stage.served.http.get(f"{stage.served.url}/v1/runs/{run_id}/events") as events:
        await events.content.readuntil(b"tool.started")
        events.close()

    await nothing_is_left(stage.home, within=6)


async def _shell_running(stage: Stage, model: str, sign: Path, **policies: str) -> str:
    """A run whose CLI runs a shell that goes on and on, in a session of its own."""
    word = unique("shell")
    command = f"touch {sign}; setsid sleep 300 & sleep 300"
    stage.on(word, shell(model, command), Text("Done."))
    run_id = await stage.run(model, word, **policies)
    await stage.in_state(run_id, "waiting_for_approval")
    await stage.decide(run_id, "once")

    async def has_started() -> bool:
        return sign.exists()

    await until(has_started, within=30)
    return run_id


@both
async def test_stopping_a_run_during_the_text_says_what_there_is(stage: Stage, model: str) -> None:
    word = unique("endless")
    stage.on(word, Text(pieces=["on and "] * 1000, interval=0.1))
    run_id = await stage.run(model, word)

    async with stage.served.http.get(f"{stage.served.url}/v1/runs/{run_id}/events") as events:
        await events.content.readuntil(b"on and ")
    status, run = await stage.served.answer("POST", f"/v1/runs/{run_id}/stop")

    assert (status, run["status"]) == (200, "cancelled")
    assert run["output"].startswith("on and ")
    await nothing_is_left(stage.home, within=6)
