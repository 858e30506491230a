"""An embedder's stand-in for a process is read like one, and never touched where it has nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hermes.backends.running.cli_process import CliProcess
from hermes.backends.saying import Concluded, Event, Exit, Said, StopReason
from tests.unit.backends.running.stubs import HI, StubPeer, stub


class Untouchable:
    """What a mock has for a number, an input, or ways to be ended."""


class Errors:
    async def read(self) -> bytes:
        return b"boom"  # and again, for ever


class Double:
    pid = Untouchable()
    stdin = Untouchable()
    stderr = Errors()

    def __init__(self, lines: list[bytes], returncode: int) -> None:
        self.stdout = self._play(lines)
        self.returncode = returncode

    async def _play(self, lines: list[bytes]) -> AsyncIterator[bytes]:
        for line in lines:
            yield line

    async def wait(self) -> int:
        return self.returncode


class Sleeper(Double):
    async def _play(self, lines: list[bytes]) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""


async def play(folder: Path, double: Double) -> tuple[CliProcess, StubPeer, list[Event], Any]:
    called: list[tuple[str, ...]] = []

    async def spawn(*argv: str, **options: object) -> Double:
        called.append(argv)
        return double

    peer, events = StubPeer(), list[Event]()
    launch = stub(folder, "job_double", "")
    process = await CliProcess.start(launch, peer, events.append, spawn=spawn)
    process.ask(HI)
    assert called == [launch.plan.argv]
    return process, peer, events, launch


async def test_its_lines_and_its_exit_code_are_read(tmp_path: Path) -> None:
    double = Double([b"say a\n", b"done\n"], 3)
    process, peer, events, _ = await play(tmp_path, double)
    await process.ended()
    assert events == [Said("a"), Concluded()]
    assert peer.exit == Exit(code=3, stderr="boom")


async def test_one_that_never_ends_can_be_stopped(tmp_path: Path) -> None:
    process, peer, _, _ = await play(tmp_path, Sleeper([], 0))
    process.stop(StopReason.ASKED)
    await process.ended()
    assert peer.exit == Exit(code=None, stopped=StopReason.ASKED)
