"""The real CLIs talk to their provider through the relay, and give up where it says so."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio

from hermes.backends.hosting.job_tokens import RelayCaps, RelayedJob, RelayGrant, Upstream
from hermes.testing.gateway import TestGateway
from hermes.testing.replies import Text
from tests.cli.stage import BIN, PROVIDER_KEY, Playing, unique

Cli = Literal["claude", "codex"]
DIALECTS: dict[str, Any] = {"claude": "anthropic", "codex": "responses"}

both = pytest.mark.parametrize("cli", ["claude", "codex"])


@dataclass(frozen=True, slots=True)
class Ended:
    code: int | None
    output: str


@dataclass(frozen=True, slots=True)
class Relayed:
    """A gateway and the means to run a CLI with the token of a job."""

    gateway: TestGateway
    playing: Playing
    home: Path

    def token(self, cli: Cli, caps: RelayCaps | None = None) -> tuple[str, RelayedJob]:
        tokens = self.gateway.adapter.seams.job_tokens
        upstream = Upstream(
            base_url=self.playing.provider.origin,
            key=PROVIDER_KEY,
            key_header="x-api-key" if cli == "claude" else "authorization",
        )
        token = tokens.issue(
            RelayGrant(
                job_id=unique("job"),
                dialect=DIALECTS[cli],
                upstream=upstream,
                caps=caps or RelayCaps(),
            )
        )
        job = tokens.find(token)
        assert job is not None
        return token, job

    async def start(self, cli: Cli, token: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *_command(cli, self.gateway.url),
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "ANTHROPIC_BASE_URL": self.gateway.url,
                "ANTHROPIC_API_KEY": token,
                "CODEX_API_KEY": token,
                "CLAUDE_CODE_MAX_RETRIES": "2",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            cwd=self.home,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )

    async def run(self, cli: Cli, token: str, prompt: str) -> Ended:
        process = await self.start(cli, token)
        try:
            async with asyncio.timeout(60):
                output, _ = await process.communicate(prompt.encode())
        finally:
            _end(process)
        return Ended(process.returncode, output.decode())


def _command(cli: Cli, url: str) -> list[str]:
    if cli == "claude":
        return [str(BIN / "claude"), "-p", "--output-format", "json", "--model", "haiku"]
    provider = f'{{name="hermes",base_url="{url}/v1",env_key="CODEX_API_KEY",wire_api="responses"}}'
    settings = ['model_provider="hermes"', f"model_providers.hermes={provider}"]
    flags = [word for setting in settings for word in ("-c", setting)]
    return [str(BIN / "codex"), "exec", "--json", "--skip-git-repo-check", *flags, "-m", "m", "-"]


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


@pytest_asyncio.fixture(loop_scope="session")
async def relayed(tmp_path: Path, playing: Playing) -> AsyncIterator[Relayed]:
    home = tmp_path / "user"
    home.mkdir()
    async with TestGateway(home=tmp_path / "gateway", key="a-key-0123456789") as gateway:
        yield Relayed(gateway, playing, home)


@both
async def test_the_cli_is_answered_and_the_job_charged(relayed: Relayed, cli: Cli) -> None:
    word = unique("hello")
    scene = relayed.playing.scenes.on(word, Text("The answer is forty-two."))
    token, job = relayed.token(cli)

    ended = await relayed.run(cli, token, word)

    assert ended.code == 0, ended.output
    assert "The answer is forty-two." in ended.output
    assert len(scene.requests) == job.requests == 1
    assert job.usage.input_tokens == scene.requests[0].input_tokens
    assert job.usage.output_tokens == 4
    headers = str(scene.requests[0].headers)
    assert PROVIDER_KEY in headers
    assert token not in headers


@both
async def test_at_its_cap_the_cli_gives_up_at_once_and_says_why(
    relayed: Relayed, cli: Cli, caplog: pytest.LogCaptureFixture
) -> None:
    token, job = relayed.token(cli, RelayCaps(requests=0))
    caplog.set_level("INFO", logger="hermes.server.requests")

    ended = await relayed.run(cli, token, "hello")

    assert ended.code == 1
    assert "This job has used all it may use (0 requests)." in ended.output
    answers = [vars(record)["status"] for record in caplog.records if record.msg == "request"]
    assert answers == [402 if cli == "claude" else 400]
    assert job.requests == 0


@both
async def test_when_the_job_is_over_its_cli_is_let_in_no_more(relayed: Relayed, cli: Cli) -> None:
    token, job = relayed.token(cli)
    relayed.gateway.adapter.seams.job_tokens.revoke(job.grant.job_id)

    ended = await relayed.run(cli, token, "hello")

    assert ended.code == 1
    assert "job is over" in ended.output


@both
async def test_a_cli_that_dies_ends_its_call_at_the_provider(relayed: Relayed, cli: Cli) -> None:
    word = unique("endless")
    scenes, provider = relayed.playing.scenes, relayed.playing.provider
    scenes.on(word, Text(pieces=["on and "] * 1000, interval=0.1))
    token, _ = relayed.token(cli)
    left, asked = provider.disconnects, provider.requests_seen

    process = await relayed.start(cli, token)
    try:
        assert process.stdin is not None
        process.stdin.write(word.encode())
        process.stdin.close()
        await provider.wait_for_requests(asked + 1, within=30)
    finally:
        _end(process)
    await process.wait()

    await provider.wait_for_disconnects(left + 1, within=5)
