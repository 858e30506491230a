"""`kill -9` of the gateway: what it left running is ended by the next one on the same home."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes.testing.replies import Text
from tests.cli.leftovers import job_processes, nothing_is_left
from tests.cli.stage import Playing, claude, codex, staged, unique


async def test_what_a_killed_gateway_left_is_swept_by_the_next_one(
    playing: Playing, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    agents = {"claude": claude(), "codex": codex()}
    words = {name: unique("endless") for name in ("claude/haiku", "codex/scripted")}
    for word in words.values():
        playing.scenes.on(word, Text(pieces=["on and "] * 3000, interval=0.1))

    async with staged(home, playing, agents) as stage:
        asked = playing.provider.requests_seen
        for model, word in words.items():
            await stage.run(model, word)
        await playing.provider.wait_for_requests(asked + 2, within=30)
        assert len(job_processes(home)) >= 2
        await stage.served.kill()

    async with asyncio.timeout(60), staged(home, playing, agents) as stage:
        await nothing_is_left(home, within=10)
        again = unique("again")
        stage.on(again, Text("Here."))
        assert await stage.say("claude/haiku", again) == "Here."
