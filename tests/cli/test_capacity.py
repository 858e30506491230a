"""Several at once or in line, ready before they are asked, and gone when the gateway ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hermes.testing.replies import Text
from tests.cli.leftovers import job_processes, nothing_is_left
from tests.cli.stage import Playing, claude, codex, staged, unique
from tests.faults.served import until

both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


async def test_whoever_finds_no_place_waits_and_whoever_leaves_the_line_is_not_answered(
    playing: Playing, tmp_path: Path
) -> None:
    agents = {"claude": claude(max_running=1)}
    words = [unique("line") for _ in range(4)]
    scenes = [
        playing.scenes.on(word, Text(pieces=["Heard ", word], interval=0.3)) for word in words
    ]

    async with staged(tmp_path / "home", playing, agents) as stage:
        asking = [asyncio.ensure_future(stage.say("claude/haiku", word)) for word in words]

        async def one_is_at_work() -> bool:
            return any(scene.requests for scene in scenes)

        await until(one_is_at_work, within=30)
        [first] = [place for place, scene in enumerate(scenes) if scene.requests]
        leaving = (first + 1) % len(words)
        asking[leaving].cancel()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        await nothing_is_left(stage.home)

    heard = [answer for place, answer in enumerate(answers) if place != leaving]
    assert heard == [f"Heard {word}" for place, word in enumerate(words) if place != leaving]
    assert scenes[leaving].requests == []


@pytest.mark.parametrize("command", ["claude", "codex"])
async def test_a_process_that_is_ready_answers_and_another_takes_its_place(
    playing: Playing, tmp_path: Path, command: str
) -> None:
    agent = claude(warm=1) if command == "claude" else codex(warm=1)
    word = unique("warm")
    scene = playing.scenes.on(word, Text("Ready."))

    async with staged(tmp_path / "home", playing, {command: agent}) as stage:

        async def one_is_ready() -> bool:
            return bool(job_processes(stage.home))

        await until(one_is_ready, within=30)
        ready = set(job_processes(stage.home))
        assert await stage.say(command, word) == "Ready."
        assert len(scene.requests) == 1

        async def another_is_ready() -> bool:
            now = set(job_processes(stage.home))
            return bool(now) and not now & ready

        await until(another_is_ready, within=30)
        assert await stage.served.stop() == 0
        await nothing_is_left(stage.home)


@both
async def test_a_gateway_that_is_told_to_end_takes_its_jobs_along(
    playing: Playing, tmp_path: Path, model: str
) -> None:
    word = unique("endless")
    playing.scenes.on(word, Text(pieces=["on and "] * 3000, interval=0.1))
    agents = {"claude": claude(), "codex": codex()}
    async with staged(tmp_path / "home", playing, agents) as stage:
        asked = playing.provider.requests_seen
        await stage.run(model, word)
        await playing.provider.wait_for_requests(asked + 1, within=30)
        stage.served.process.terminate()

        async def drains() -> bool:
            health = await stage.served.get("/health/detailed")
            return bool(health["gateway_state"] == "draining")

        await until(drains)
        stage.served.process.terminate()  # the second does not wait for anybody
        async with asyncio.timeout(30):
            await stage.served.process.wait()
        await nothing_is_left(stage.home, within=1)


@pytest.mark.parametrize("command", ["claude", "codex"])
async def test_one_question_and_one_answer_work_as_well(
    playing: Playing, tmp_path: Path, command: str
) -> None:
    """The other transport, for CLIs that do not speak in both directions."""
    agent = claude(transport="one-shot") if command == "claude" else codex(transport="one-shot")
    word = unique("plain")
    playing.scenes.on(word, Text("Plainly answered."))

    async with staged(tmp_path / "home", playing, {command: agent}) as stage:
        pieces, usage = await stage.stream(command, word)
        assert "".join(pieces) == "Plainly answered."
        assert usage.completion_tokens == 2
        await nothing_is_left(stage.home)
