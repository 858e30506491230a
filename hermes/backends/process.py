"""Runs one command to its end and leaves nothing of it behind.

Own process group, nothing on stdin but what the caller gives, both pipes drained at once, bounded
output and time. Knows nothing about what it runs. POSIX only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import AsyncIterable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from hermes.backends.errors import CommandFailed, CommandMissing, OutputTooLarge, TimedOut

OUTPUT_LIMIT = 64 * 1024 * 1024
STDERR_TAIL = 64 * 1024
TERM_GRACE_SECONDS = 3.0
"""Time for a clean end after SIGTERM: a CLI may have children outside the group to end."""
DRAIN_GRACE_SECONDS = 1.0
"""Time for the pipes to close once the process is gone; a child outside the group may hold them."""
EXIT_POLL_SECONDS = 0.1


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
    """Its last `STDERR_TAIL` bytes."""


async def run(command: Command) -> Completed:
    """Run `command` and wait for it. Raises `CommandFailed`.

    However this ends (answer, error, timeout, cancellation), the process group is dead by then.
    """
    process = await _start(command)
    try:
        async with asyncio.timeout(command.timeout_seconds):
            return await _collect(process, command.output_limit)
    except TimeoutError:
        message = f"{command.argv[0]} did not finish within {command.timeout_seconds:g} s"
        raise TimedOut(message) from None
    finally:
        await _to_the_end(_end_group(process))


async def _start(command: Command) -> asyncio.subprocess.Process:
    program = command.argv[0]
    try:
        with _stdin(command.stdin) as stdin:
            return await asyncio.create_subprocess_exec(
                *command.argv,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=command.cwd,
                env=dict(command.environment),
                start_new_session=True,
                # asyncio breaks off at lines over 64 KiB by default; an answer is one line.
                limit=command.output_limit,
            )
    except FileNotFoundError as error:
        raise CommandMissing(f"{program} was not found") from error
    except OSError as error:
        raise CommandFailed(f"{program} could not be started: {error.strerror}") from error


@contextlib.contextmanager
def _stdin(data: bytes | None) -> Iterator[int | IO[bytes]]:
    """A nameless file, not a pipe: nobody has to feed it while the command runs."""
    if data is None:
        yield asyncio.subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as spool:
        spool.write(data)
        spool.seek(0)
        yield spool


async def _collect(process: asyncio.subprocess.Process, output_limit: int) -> Completed:
    assert process.stdout is not None and process.stderr is not None
    stdout, stderr = bytearray(), bytearray()
    readers = {
        asyncio.ensure_future(_fill(stdout, process.stdout, output_limit)),
        asyncio.ensure_future(_fill_tail(stderr, process.stderr)),
    }
    try:
        returncode = await _exit_code(process, readers)
        _signal_group(process, signal.SIGKILL)
        done, _ = await asyncio.wait(readers, timeout=DRAIN_GRACE_SECONDS)
        for reader in done:
            reader.result()
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    return Completed(returncode, bytes(stdout), stderr.decode(errors="replace"))


async def _exit_code(process: asyncio.subprocess.Process, readers: set[asyncio.Task[None]]) -> int:
    """The exit code as soon as there is one; a reader's error as soon as it happens.

    `process.wait()` alone may not return before the pipes are closed, and a stray child can hold
    them for ever; so `returncode` is looked at now and then as well.
    """
    exited = asyncio.ensure_future(process.wait())
    watched: set[asyncio.Task[Any]] = {exited, *readers}
    try:
        while process.returncode is None and not exited.done():
            done, _ = await asyncio.wait(
                watched, timeout=EXIT_POLL_SECONDS, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in done:
                task.result()
        return exited.result() if process.returncode is None else process.returncode
    finally:
        exited.cancel()


async def _fill(buffer: bytearray, lines: AsyncIterable[bytes], limit: int) -> None:
    too_large = OutputTooLarge(f"it printed more than {limit} bytes")
    try:
        async for line in lines:
            buffer += line
            if len(buffer) > limit:
                raise too_large
    except ValueError as error:  # a single line over the stream's own limit
        raise too_large from error


class _Readable(Protocol):
    async def read(self, n: int = -1, /) -> bytes: ...


async def _fill_tail(buffer: bytearray, stream: _Readable) -> None:
    if not isinstance(stream, asyncio.StreamReader):
        # An embedder's stand-in for a process: it need not know an end of file.
        buffer += await stream.read()
        return
    while chunk := await stream.read(STDERR_TAIL):
        buffer += chunk
        del buffer[:-STDERR_TAIL]


async def _end_group(process: asyncio.subprocess.Process) -> None:
    try:
        if process.returncode is None:
            _signal_group(process, signal.SIGTERM)
            await _gone(process, TERM_GRACE_SECONDS)
    finally:
        _signal_group(process, signal.SIGKILL)
    await _gone(process, TERM_GRACE_SECONDS)
    _close_pipes(process)


async def _gone(process: asyncio.subprocess.Process, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _exit_code(process, set())


def _signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Signal whoever is left in the group."""
    if _is_real(process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """A pipe we stopped reading, or that a stray child holds, would stay open in our process.

    asyncio has no public name for this.
    """
    if _is_real(process):
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001


def _is_real(process: asyncio.subprocess.Process) -> bool:
    """An embedder's stand-in for a process has no number, so no group and no pipes either."""
    return isinstance(process.pid, int)


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
