"""A process may print before its start has been told to anybody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from hermes.backends.running.cli_process import CliProcess
from hermes.backends.saying import Concluded, Event, Said
from tests.unit.backends.running.stubs import HI, StubPeer, stub


class Hasty:
    """Has said everything before whoever started it takes the next step."""

    returncode = 0
    stderr: Hasty

    def __init__(self) -> None:
        self.stdout = self._lines()
        self.stderr = self

    async def _lines(self) -> AsyncIterator[bytes]:
        yield b"say a\n"
        yield b"done\n"

    async def read(self) -> bytes:
        return b""

    async def wait(self) -> int:
        return 0


async def test_what_it_prints_at_once_is_heard(tmp_path: Path) -> None:
    async def spawn(*argv: str, **options: object) -> Hasty:
        return Hasty()

    events: list[Event] = []
    launch = stub(tmp_path, "job_hasty", "")
    process = await CliProcess.start(launch, StubPeer(), events.append, spawn=spawn)
    process.ask(HI)
    await process.ended()
    assert events == [Said("a"), Concluded()]
