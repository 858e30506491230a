"""The demonstrations of the README, carried out as they are written: by a shell, against a process.

Only what names the machine is replaced: the gateway's port, and the program that `make` starts.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START_SECONDS = 30.0
DEMO_SECONDS = 60.0


def blocks(heading: str, language: str) -> list[str]:
    """The code of one section of the README, block by block."""
    readme = (ROOT / "README.md").read_text()
    section = readme.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


class Terminals:
    """The reader's two terminals: one serves, in the other the blocks are pasted one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]

    def _as_here(self, block: str) -> str:
        served = f"exec {sys.executable} -m hermes_cli.main serve"
        return block.replace("make serve", served).replace("127.0.0.1:8642", self._address)

    @property
    def _address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(self._folder),
            "HERMES_HOME": str(self._folder / "home"),
            "API_SERVER_PORT": str(self._port),
        }

    @property
    def workspace(self) -> Path:
        return self._folder / "home" / "workspace"

    @asynccontextmanager
    async def serving(self, block: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", self._as_here(block)),
            cwd=self._folder,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                while "Base URL" not in (line := (await process.stdout.readline()).decode()):
                    assert line, "the gateway did not start"
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def paste(self, *command: str) -> str:
        """Run something to its end; everything it printed."""

        def run() -> str:
            finished = subprocess.run(
                [*command[:-1], self._as_here(command[-1])],
                cwd=self._folder,
                env=self._environment,
                capture_output=True,
                text=True,
                timeout=DEMO_SECONDS,
            )
            assert finished.returncode == 0, finished.stderr
            return finished.stdout

        return await asyncio.to_thread(run)


@pytest.fixture
def terminals(tmp_path: Path) -> Terminals:
    return Terminals(tmp_path)


async def test_a_run_whose_server_was_killed_goes_on_from_the_last_number_seen(
    terminals: Terminals,
) -> None:
    serve, begin, rejoin = blocks("Pull the plug", "bash")
    async with terminals.serving(serve) as first:
        shown = await terminals.paste(
            "bash", "-c", begin + 'wait; echo "GATEWAY=$GATEWAY RUN=$RUN"'
        )
        assert await first.wait() == -signal.SIGKILL
    *watched, variables = shown.splitlines()
    assert '"command": "sleep 20"' in "\n".join(watched)
    async with terminals.serving(serve):
        rest = await terminals.paste("bash", "-c", f"{variables}\n{rejoin}")

    assert rest.splitlines()[-1] == "Nothing missing, nothing twice."
    numbers = [int(seq) for seq in re.findall(r"^id: (\d+)$", shown + rest, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "its outcome is unknown" in rest
    assert rest.count("event: run.completed\n") == 1
    assert "sleep 20" not in "".join(re.findall(r'.*"type": "tool.started".*', rest))


async def test_an_untouched_script_has_a_command_approved_by_answering_yes(
    terminals: Terminals,
) -> None:
    [script] = blocks("Approve it from anywhere", "python")
    async with terminals.serving("make serve"):
        assert (terminals.workspace / "build").is_dir()
        shown = await terminals.paste(sys.executable, "-c", script)

    assert "**May I run this?** (`terminal`)\n\n```\nrm -r build\n```" in shown
    assert "(It was approved by the user" in shown
    assert not (terminals.workspace / "build").exists()


async def test_what_a_chat_has_written_is_on_its_receipt_and_taken_back(
    terminals: Terminals,
) -> None:
    [script] = blocks("Take it back", "bash")
    *before, undo = script.strip().splitlines()
    async with terminals.serving("make serve"):
        told = await terminals.paste("bash", "-c", "\n".join([*before, 'echo; echo "RUN=$RUN"']))
        assert (terminals.workspace / "plan.txt").read_text() == "more tea\n"
        *receipt, variable = told.strip().splitlines()
        gateway = before[0]
        undone = await terminals.paste("bash", "-c", "\n".join([gateway, variable, undo]))

    [file] = json.loads("".join(receipt))["files"]
    assert (file["path"], file["change"]) == ("plan.txt", "created")
    assert json.loads(undone)["counts"]["removed"] == 1
    assert not (terminals.workspace / "plan.txt").exists()
