"""`hermes serve -- claude`: one command, and any client of OpenAI's talks to the CLI."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import openai
import pytest

from hermes.testing.replies import Text
from tests.cli.leftovers import nothing_is_left
from tests.cli.stage import BIN, PROVIDER_KEY, Playing, claude, codex, unique
from tests.faults.served import KEY, configure, serving


@pytest.mark.parametrize("command", ["claude", "codex"])
async def test_one_command_makes_a_cli_the_model_that_answers(
    playing: Playing, tmp_path: Path, command: str
) -> None:
    home, provider = tmp_path / "home", playing.provider
    environment = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "ANTHROPIC_BASE_URL": provider.origin,
        "ANTHROPIC_API_KEY": PROVIDER_KEY,
    }
    word = unique("serve")
    scene = playing.scenes.on(word, Text("Served."))

    async with serving(home, provider, "--", command, environment=environment) as served:
        sdk = openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key=KEY, max_retries=0)
        async with sdk:
            stream = await sdk.chat.completions.create(
                model="whatever", messages=[{"role": "user", "content": word}], stream=True
            )
            pieces = [
                choice.delta.content or "" async for chunk in stream for choice in chunk.choices
            ]
        await nothing_is_left(home)

    assert "".join(pieces) == "Served."
    assert len(scene.requests) == 1


async def test_the_command_line_says_whether_the_agents_would_answer(
    playing: Playing, tmp_path: Path
) -> None:
    paid = {"base_url": playing.provider.origin, "api_key": PROVIDER_KEY}
    gone = {"driver": "claude", "command": [str(tmp_path / "nowhere")], "models": ["haiku"]}
    agents = {"claude": claude(**paid), "codex": codex(**paid), "gone": gone}
    configure(tmp_path / "home", json.dumps({"cli": {"agents": agents}}))

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_cli.main", "models", "--json"),
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(tmp_path / "home")},
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate()

    told = {each["id"]: each.get("status") for each in json.loads(output)["models"]}
    assert told["claude/haiku"] == told["codex/scripted"] == "ready"
    assert told["gone/haiku"] == "not found"
