"""`hermes models`, `hermes doctor` and `hermes serve -- claude`, as real processes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from tests.flows.hosted import nothing_is_left, stub

HERMES = [sys.executable, "-m", "hermes_cli.main"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "home").mkdir()
    stub(tmp_path / "bin")
    return {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "HERMES_HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "NO_PROXY": "127.0.0.1",
    }


def configure(environ: dict[str, str], text: str) -> None:
    (Path(environ["HERMES_HOME"]) / "config.yaml").write_text(text)


def hermes(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*HERMES, *arguments], env=environ, capture_output=True, text=True, timeout=60
    )
    return done.stdout


def test_models_are_listed_with_what_is_wrong_with_them(environ: dict[str, str]) -> None:
    configure(
        environ,
        "cli: {agents: {claude: {models: [haiku]}, gone: {command: no-such-agent}}}",
    )
    shown = hermes(environ, "models")

    assert "hermes-agent  demo" in shown
    assert "claude/haiku  Claude Code 2.1.325: login unknown" in shown
    assert "gone  a command: not found" in shown
    assert "→ " in shown


def test_what_is_installed_and_not_served_is_named(environ: dict[str, str]) -> None:
    assert "claude is installed and not served; hermes serve -- claude" in hermes(environ, "models")


def test_the_same_as_json(environ: dict[str, str]) -> None:
    configure(environ, "cli: {agents: {claude: {models: [haiku], api_key: hunter2-key}}}")
    told = json.loads(hermes(environ, "models", "--json"))

    hosted = told["models"][1]
    assert (hosted["id"], hosted["status"], hosted["version"]) == (
        "claude/haiku",
        "ready",
        "2.1.325",
    )
    assert "hunter2" not in json.dumps(told)


def test_the_doctor_examines_them(environ: dict[str, str]) -> None:
    configure(environ, "cli: {agents: {claude: {models: [haiku]}}}")

    assert "CLI agent claude: login unknown 2.1.325" in hermes(environ, "doctor")


async def test_a_cli_is_served_with_one_command(environ: dict[str, str], tmp_path: Path) -> None:
    served = await asyncio.create_subprocess_exec(
        *HERMES,
        "serve",
        "--port",
        "0",
        "--",
        "claude",
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert served.stdout is not None
    try:
        banner = ""
        async with asyncio.timeout(40):
            while "Try it" not in banner:
                banner += (await served.stdout.readline()).decode()
        assert "CLI agents: claude/haiku, claude/sonnet, claude/opus" in banner
        assert "claude: nothing says how it is paid for" in banner
        [url] = re.findall(r"Base URL: +(\S+)", banner)
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as sdk:
            stream = await sdk.chat.completions.create(
                model="claude/haiku",
                messages=[{"role": "user", "content": "Hello there"}],
                stream=True,
            )
            said = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(said) == "echo: Hello there"
    finally:
        served.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            await served.wait()
    await nothing_is_left(tmp_path / "home")
    assert served.returncode == 0


def test_a_cli_that_is_not_there_is_not_served(environ: dict[str, str]) -> None:
    environ["PATH"] = str(Path(environ["HOME"]) / "nothing-here")
    done = subprocess.run(
        [*HERMES, "serve", "--port", "0", "--", "codex"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "codex cannot be served: there is no program codex" in done.stderr
    assert "npm install -g @openai/codex" in done.stderr
