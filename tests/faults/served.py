"""The gateway as a process that a test may kill: started on a home, asked over loopback."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp

from hermes.testing.fake_provider import FakeProvider

KEY = "fault-key-abcdef123456"
START_SECONDS = 30.0
STOP_SECONDS = 20.0
_BASE_URL = re.compile(rb"Base URL: +(http\S+)/v1\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A gateway process that answers, and how to ask it."""

    process: asyncio.subprocess.Process
    url: str
    http: aiohttp.ClientSession
    home: Path
    log: Path
    started_in: float
    """Seconds from the start of the process to its first banner, when it listens."""

    async def answer(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        async with self.http.request(method, self.url + path, **options) as response:
            return response.status, await response.json()

    async def get(self, path: str) -> Any:
        """The JSON behind a path that must be there."""
        status, body = await self.answer("GET", path)
        assert status == 200, (path, status, body)
        return body

    async def stream(self, path: str, **options: Any) -> bytes:
        """All bytes of a stream that must be there, to its end."""
        async with self.http.get(self.url + path, **options) as response:
            body = await response.read()
            assert response.status == 200, (path, response.status, body)
        return body

    async def kill(self) -> None:
        """The plug is pulled."""
        self.process.kill()
        await self.process.wait()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), STOP_SECONDS)


def configure(home: Path, text: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / "config.yaml").write_text(text)
    (home / "config.yaml").chmod(0o600)


@asynccontextmanager
async def serving(
    home: Path,
    provider: FakeProvider,
    *arguments: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Served]:
    """Killed at the end of the block, if it is still there.

    `arguments` are those of `hermes serve`; `environment` is added to what it needs.
    """
    log = home.parent / f"{home.name}.log"
    began = time.monotonic()
    needed = _environment(home, provider)
    process = await _start(arguments, {**needed, **environment}, log)
    try:
        url = await _url(process, log)
        took = time.monotonic() - began
        headers = {"Authorization": f"Bearer {KEY}"}
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(
            headers=headers, connector=connector, timeout=timeout
        ) as http:
            yield Served(process=process, url=url, http=http, home=home, log=log, started_in=took)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _environment(home: Path, provider: FakeProvider) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "HERMES_HOME": str(home),
        "API_SERVER_PORT": "0",
        "API_SERVER_KEY": KEY,
        "OPENAI_BASE_URL": provider.base_url,
        "OPENAI_API_KEY": "provider-key-abcdef123456",
        "HERMES_MODEL": "the-model",
    }


async def _start(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path
) -> asyncio.subprocess.Process:
    with log.open("ab") as file:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hermes_cli.main", "serve", *arguments),
            env=environment,
            cwd=log.parent,
            stdout=asyncio.subprocess.PIPE,
            stderr=file,
        )


async def _url(process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(START_SECONDS):
        while line := await process.stdout.readline():
            if found := _BASE_URL.search(line):
                return found[1].decode()
    raise AssertionError(log.read_text()[-4000:])


async def until(is_so: Callable[[], Awaitable[bool]], within: float = 20.0) -> None:
    """Wait for what only asking again can tell."""
    async with asyncio.timeout(within):
        while not await is_so():
            await asyncio.sleep(0.02)
