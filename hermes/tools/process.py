"""Commands as process groups: bounded in time and memory, and gone completely when they end.

The leader stays unreaped until its whole group was killed: so long nobody else can get its number.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hermes.tools.output import BoundedBuffer

_TICK = 0.05  # how late a stop or an exit is noticed, in seconds
_GRACE = 0.3  # between asking a group to end and killing it
_REAP = 1.0  # for a killed leader to vanish; only a hanging kernel call takes longer
_CHUNK = 65_536
_PIPE_MOST = 1_048_576  # what a pipe can hold at most: output from before the leader's exit


class Ending(Enum):
    """Why a command is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    TOO_MUCH_OUTPUT = "too_much_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how much of everything it may use."""

    argv: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    timeout: float
    """Seconds."""
    keep: int = 40_000
    """Bytes of output to keep, half from the start and half from the end."""
    output_limit: int = 268_435_456
    """Bytes of output after which the command is ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What came of a command."""

    ending: Ending
    exit_code: int | None
    """Negative: the signal that ended it. None: the kernel would not let go of it."""
    output: str
    left_processes: bool = False
    """Whether it exited with processes still running in the background; they were killed."""


Watch = Callable[[bytes], None]


def run_command(
    command: Command, stop: threading.Event, watch: Watch = lambda _chunk: None
) -> Finished:
    """Run a command to its end, or to the end of its time, its output or the turn.

    Blocks; uses no thread. `watch` sees the output as it comes. When this returns or raises, every
    process of the command's group has been killed. Raises `OSError` or `ValueError` when the
    command cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603  running commands is what this file is for
        list(command.argv),
        cwd=command.directory,
        env=dict(command.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        with process.stdout, selectors.DefaultSelector() as selector:
            pipe = _Pipe(process.stdout.fileno(), selector, BoundedBuffer(command.keep), watch)
            ending = _follow(process, pipe, command, stop)
            if ending is Ending.EXITED:
                pipe.drain()
            else:
                _ask_to_end(process, pipe)
    finally:
        _kill(process)
    return Finished(
        ending=ending,
        exit_code=process.returncode,
        output=pipe.buffer.text(),
        left_processes=ending is Ending.EXITED and not pipe.is_closed,
    )


class _Pipe:
    """The reading end of a command's output."""

    def __init__(
        self, fd: int, selector: selectors.BaseSelector, buffer: BoundedBuffer, watch: Watch
    ) -> None:
        os.set_blocking(fd, False)
        selector.register(fd, selectors.EVENT_READ)
        self._fd = fd
        self._selector = selector
        self._watch = watch
        self.buffer = buffer
        self.is_closed = False

    def read(self, wait: float) -> bool:
        """Take what is there, waiting at most `wait` seconds for it. False: nothing came."""
        if self.is_closed or not self._selector.select(wait):
            return False
        try:
            chunk = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        self.is_closed = not chunk
        self.buffer.add(chunk)
        self._watch(chunk)
        return True

    def drain(self) -> None:
        """Take what the leader wrote before it exited; bounded, as others may still be writing."""
        until = self.buffer.total + _PIPE_MOST
        while self.buffer.total < until and self.read(0):
            pass


def _follow(
    process: subprocess.Popen[bytes], pipe: _Pipe, command: Command, stop: threading.Event
) -> Ending:
    deadline = time.monotonic() + command.timeout
    pause = 0.001
    while True:
        if stop.is_set():
            return Ending.INTERRUPTED
        if pipe.buffer.total > command.output_limit:
            return Ending.TOO_MUCH_OUTPUT
        if _has_exited(process):
            return Ending.EXITED
        if time.monotonic() >= deadline:
            return Ending.TIMED_OUT
        if pipe.is_closed:
            # Usually the exit is only microseconds away, so look again soon, then ever later.
            stop.wait(pause)
            pause = min(2 * pause, _TICK)
        else:
            pipe.read(min(_TICK, max(deadline - time.monotonic(), 0)))


def _ask_to_end(process: subprocess.Popen[bytes], pipe: _Pipe) -> None:
    """Give the group a moment to end by itself; it is over early when nobody holds the pipe."""
    _signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and not (pipe.is_closed and _has_exited(process)):
        if pipe.is_closed:
            time.sleep(0.005)
        else:
            pipe.read(_TICK)


def _kill(process: subprocess.Popen[bytes]) -> None:
    _signal_group(process, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAP)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # PermissionError is how some systems say that only a zombie is left in the group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether the leader is done, without reaping it where the system can tell."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, how) is not None
    except ChildProcessError:  # this program ignores SIGCHLD, so the kernel reaped it
        return True
