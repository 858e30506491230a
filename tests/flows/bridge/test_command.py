"""`hermes bridge`: how it starts, refuses to, and ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.flows.bridge.server import TOKEN, ask, text_of
from tests.unit.backends.processes import WAIT_SECONDS, announced, ended, is_alive

HERMES = (sys.executable, "-m", "hermes_cli.main")
START_SECONDS = 45.0
"""A command line takes a while to be imported on a busy machine."""


def refusal(*arguments: str, **environ: str) -> str:
    """The one line with which the command does not start."""
    done = subprocess.run(
        [*HERMES, "bridge", *arguments],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environ},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("token", [{}, {"API_BEARER_TOKEN": " "}])
def test_without_a_token_it_says_what_to_set(token: dict[str, str]) -> None:
    assert "export API_BEARER_TOKEN=" in refusal(**token)


def test_a_setting_that_is_not_allowed_is_named_at_once() -> None:
    assert "MAX_CONCURRENCY" in refusal(API_BEARER_TOKEN="token", MAX_CONCURRENCY="none")


@pytest.mark.parametrize("module", ["uvicorn", "starlette.applications"])
def test_without_the_extra_it_says_what_to_install(module: str) -> None:
    script = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "sys.argv = ['hermes', 'bridge']\n"
        "from hermes_cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": os.environ["PATH"], "API_BEARER_TOKEN": "token"},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    assert done.returncode == 1
    assert "pip install 'hermes-gateway[bridge]'" in done.stderr
    assert "Traceback" not in done.stderr


@asynccontextmanager
async def running() -> AsyncIterator[tuple[asyncio.subprocess.Process, httpx.AsyncClient]]:
    process = await asyncio.create_subprocess_exec(
        *(*HERMES, "bridge", "--port", "0"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            while not (
                found := re.search(rb"Base URL: +(\S+)/v1", await process.stdout.readline())
            ):
                assert not process.stdout.at_eof()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=found[1].decode(), headers=headers) as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait_for(process.communicate(), WAIT_SECONDS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_and_takes_its_jobs_with_it(
    workspace: Path, number: signal.Signals
) -> None:
    async with running() as (process, client):
        assert text_of(await ask(client, "hello")) == "You said 5 characters."
        begun = await client.post("/execute", json={"prompt": "apart"})
        assert begun.status_code == 202
        pids = await announced(workspace / "pids")
        process.send_signal(number)
        await asyncio.wait_for(process.wait(), WAIT_SECONDS)
        await ended(pids)


async def test_it_takes_a_chat_with_it_that_nobody_ends(workspace: Path) -> None:
    async with running() as (process, client):
        asking = asyncio.ensure_future(ask(client, "slow"))
        pids = await announced(workspace / "pids")
        process.terminate()
        await asyncio.wait_for(process.wait(), WAIT_SECONDS)
        await ended(pids)
        await asyncio.gather(asking, return_exceptions=True)


async def test_what_a_killed_bridge_left_running_ends_with_the_next_start(workspace: Path) -> None:
    async with running() as (process, client):
        begun = await client.post("/execute", json={"prompt": "apart"})
        assert begun.status_code == 202
        pids = await announced(workspace / "pids")
        process.kill()
        await asyncio.wait_for(process.wait(), WAIT_SECONDS)
    assert all(is_alive(pid) for pid in pids)
    async with running():
        await ended(pids)
