"""What tests need to know about processes that are not their own children."""

from __future__ import annotations

import asyncio
from pathlib import Path

WAIT_SECONDS = 20.0


async def announced(path: Path) -> list[int]:
    """The process ids a script wrote to `path`, as soon as they are there."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not path.exists():
            await asyncio.sleep(0.01)
    return [int(word) for word in path.read_text().split()]


async def ended(pids: list[int]) -> None:
    """Returns once all of them are gone; fails when that takes too long."""
    async with asyncio.timeout(WAIT_SECONDS):
        while any(is_alive(pid) for pid in pids):
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether the process still runs; one that is only waiting to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
