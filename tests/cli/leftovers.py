"""What a gateway's jobs have left on the machine: processes and folders."""

from __future__ import annotations

import asyncio
from pathlib import Path


def job_processes(home: Path) -> dict[int, str]:
    """The processes that name a job's folder in this home, as all of a job do, by their ids.

    Not by the mark of a job: a CLI may start others without it.
    """
    named, found = f"{home}/cli/".encode(), {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes()
        except OSError:  # it ended while we looked, or is not ours
            continue
        if named in environment + command:
            found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")[:200]
    return found


def job_folders(home: Path) -> list[Path]:
    return sorted(home.glob("cli/jobs/*"))


async def nothing_is_left(home: Path, within: float = 6.0) -> None:
    """Return when no process and no folder of a job is there any more, or raise."""
    try:
        async with asyncio.timeout(within):
            while job_processes(home) or job_folders(home):
                await asyncio.sleep(0.05)
    except TimeoutError:
        left = (job_processes(home), job_folders(home))
        raise AssertionError(f"left after {within} s: {left}") from None
