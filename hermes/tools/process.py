"""Commands that are waited for: bounded in time and memory, and gone completely when they end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from enum import Enum

from hermes.tools.output import BoundedBuffer
from hermes.tools.output_pipe import TICK, OutputPipe, Watch, ask_to_end
from hermes.tools.process_group import Command as Command
from hermes.tools.process_group import Group, has_exited, kill_group, start_group

_GRACE = 0.3  # between asking a group to end and killing it


class Ending(Enum):
    """Why a command is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    TOO_MUCH_OUTPUT = "too_much_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What came of a command."""

    ending: Ending
    exit_code: int | None
    """Negative: the signal that ended it. None: the kernel would not let go of it."""
    output: str
    left_processes: bool = False
    """Whether it exited with processes still running in the background; they were killed."""


def run_command(
    command: Command, stop: threading.Event, watch: Watch = lambda _chunk: None
) -> Finished:
    """Run a command to its end, or to the end of its time, its output or the turn.

    Blocks; uses no thread. `watch` sees the output as it comes. When this returns or raises, every
    process of the command's group has been killed. Raises `OSError` or `ValueError` when the
    command cannot be started.
    """
    process = start_group(command)
    buffer = BoundedBuffer(command.keep)
    try:
        with OutputPipe(process, buffer, watch) as pipe:
            ending = _follow(process, pipe, buffer, command, stop)
            if ending is Ending.EXITED:
                pipe.drain()
            else:
                ask_to_end(process, pipe, _GRACE)
    finally:
        kill_group(process)
    return Finished(
        ending=ending,
        exit_code=process.returncode,
        output=buffer.text(),
        left_processes=ending is Ending.EXITED and not pipe.is_closed,
    )


def _follow(
    process: Group,
    pipe: OutputPipe,
    buffer: BoundedBuffer,
    command: Command,
    stop: threading.Event,
) -> Ending:
    deadline = time.monotonic() + command.timeout
    pause = 0.001
    while True:
        if stop.is_set():
            return Ending.INTERRUPTED
        if buffer.total > command.output_limit:
            return Ending.TOO_MUCH_OUTPUT
        if has_exited(process):
            return Ending.EXITED
        if time.monotonic() >= deadline:
            return Ending.TIMED_OUT
        if pipe.is_closed:
            # Usually the exit is only microseconds away, so look again soon, then ever later.
            stop.wait(pause)
            pause = min(2 * pause, TICK)
        else:
            pipe.read(min(TICK, max(deadline - time.monotonic(), 0)))
