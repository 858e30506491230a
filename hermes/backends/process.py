"""Runs one command to its end and leaves nothing of it behind.

On the same ground as CLI agents (`running/child.py`): a session of its own, nothing on stdin but
what the caller gives, bounded output and time. Knows nothing about what it runs. POSIX only.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hermes.backends.errors import CommandFailed, OutputTooLarge, TimedOut
from hermes.backends.running import ladder
from hermes.backends.running.child import Child, Order, start_child
from hermes.backends.running.ladder import Rung
from hermes.backends.running.launch import job_mark
from hermes.core.ids import new_id

OUTPUT_LIMIT = 64 * 1024 * 1024
TERM_GRACE_SECONDS = 3.0
"""Time for a clean end after SIGTERM: a command may have children of its own to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command line and its limits."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(repr=False)
    timeout_seconds: float
    stdin: bytes | None = field(default=None, repr=False)
    output_limit: int = OUTPUT_LIMIT


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ran to its end, well or not."""

    returncode: int
    stdout: bytes
    stderr: str
    """The end of it."""


class _Output:
    """Everything it prints, up to the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.data = bytearray()
        self.is_too_large: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, chunk: bytes) -> None:
        if self.is_too_large.done():
            return
        self.data += chunk
        if len(self.data) > self._limit:
            self.is_too_large.set_result(None)


async def run(command: Command) -> Completed:
    """Run `command` and wait for it. Raises `CommandFailed`.

    However this ends (answer, error, timeout, cancellation), all it started is dead by then.
    """
    output = _Output(command.output_limit)
    child = await _start(command, output)
    try:
        async with asyncio.timeout(command.timeout_seconds):
            await ladder.first_of(child.exit, output.is_too_large)
    except TimeoutError:
        message = f"{command.argv[0]} did not finish within {command.timeout_seconds:g} s"
        raise TimedOut(message) from None
    finally:
        rungs = (Rung(signal.SIGTERM, TERM_GRACE_SECONDS),)
        await _to_the_end(ladder.end(child, rungs))
    if output.is_too_large.done():
        raise OutputTooLarge(f"it printed more than {command.output_limit} bytes")
    code = ladder.exit_code(child)
    if code is None:
        raise CommandFailed(f"{command.argv[0]} could not be ended")
    return Completed(code, bytes(output.data), child.errors())


async def _start(command: Command, output: _Output) -> Child:
    mark = job_mark(new_id("cmd_"))
    child = await start_child(
        Order(
            argv=command.argv,
            cwd=command.cwd,
            environment={**command.environment, mark.variable: mark.value},
            mark=mark,
        )
    )
    child.listen(output.take)
    child.input.write(command.stdin or b"")
    child.input.finish()
    return child


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Finish `work` even when we are cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
