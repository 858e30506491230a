"""Commands that outlive the call that started them, until they end, are ended, or the server is.

Each has a thread of its own, which starts it, reads its output and ends it: a sandbox ends with
the thread that started it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from types import MethodType

from hermes.core.events import CommandRan, Emit
from hermes.core.ids import new_id
from hermes.tools.leftovers import MARK, Leftovers, end_marked
from hermes.tools.output_pipe import TICK, OutputPipe, ask_to_end
from hermes.tools.problem import ToolProblem
from hermes.tools.process_group import Command, Group, has_exited, kill_group, start_group
from hermes.tools.tail_buffer import TailBuffer

MOST = 128
"""Commands that may run in the background at once, whoever started them."""
KEPT = 1_000_000
"""Bytes of its output that are kept of each, the last ones."""
UNTRACKED = "It ran in the background: what it changed cannot be told from what others did."

_GRACE = 2.0  # between asking one to end and killing it
_ENDED_KEPT = 16  # of each conversation, for whoever asks how they ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Who a background process belongs to."""

    holder: str
    conversation: str
    is_shared: bool
    """Whether other conversations of the same holder may have the same name."""


class State(Enum):
    RUNNING = "running"
    EXITED = "exited"
    KILLED = "killed"
    TOO_MUCH_OUTPUT = "too_much_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is started, by whom, and how it is told about."""

    room: Room
    command: Command
    shown: str
    call_id: str


class Background:
    """One command in the background. Safe to use from any thread."""

    def __init__(self, start: Start, noted: AbstractContextManager[Command], emit: Emit) -> None:
        self.id = new_id("proc_")
        self.start = start
        self.output = TailBuffer(KEPT)
        self.state = State.RUNNING
        self.exit_code: int | None = None
        self.seen = 0
        """How far the output was polled."""
        self.ended = threading.Event()
        self._noted = noted
        self._emit = _weakly(emit)
        self._must_end = threading.Event()
        self._has_begun = threading.Event()
        self._failure: OSError | ValueError | None = None
        self._began = time.monotonic()
        self._ended_after: float | None = None

    @property
    def seconds(self) -> float:
        """How long it runs, or ran."""
        return self._ended_after or time.monotonic() - self._began

    def begin(self) -> None:
        """Returns when it runs; raises `OSError` or `ValueError` when it cannot be started."""
        threading.Thread(target=self._live, name=f"hermes-{self.id}", daemon=True).start()
        self._has_begun.wait()
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Have it end: asked first, then killed. Does not wait for it."""
        self._must_end.set()

    # --- in its thread ------------------------------------------------------------------------

    def _live(self) -> None:
        try:
            with self._noted as command:
                self._run(command)
            self._tell()
        except (OSError, ValueError) as failure:
            self._failure = failure
        finally:
            self._close()

    def _close(self) -> None:
        if self.state is State.RUNNING:
            self.state = State.EXITED
        self._ended_after = self.seconds
        self._has_begun.set()
        # Last: whoever waits for it finds everything in its place, also in the log of the run.
        self.ended.set()

    def _run(self, command: Command) -> None:
        process = start_group(command)
        self._has_begun.set()
        try:
            with OutputPipe(process, self.output) as pipe:
                state = self._follow(process, pipe)
                if state is State.EXITED:
                    pipe.drain()
                else:
                    ask_to_end(process, pipe, _GRACE)
        finally:
            kill_group(process)
        if state is not State.EXITED:
            end_marked({command.environment.get(MARK, "")})
        self.exit_code = process.returncode
        self.state = state

    def _follow(self, process: Group, pipe: OutputPipe) -> State:
        while True:
            if self._must_end.is_set():
                return State.KILLED
            if self.output.total > self.start.command.output_limit:
                return State.TOO_MUCH_OUTPUT
            if has_exited(process):
                return State.EXITED
            if pipe.is_closed:
                self._must_end.wait(TICK)
            else:
                pipe.read(TICK)

    def _tell(self) -> None:
        emit = self._emit()
        if emit is not None:
            emit(
                CommandRan(
                    call_id=self.start.call_id,
                    command=self.start.shown,
                    directory=str(self.start.command.directory),
                    exit_code=self.exit_code,
                    seconds=round(self.seconds, 3),
                    untracked=UNTRACKED,
                )
            )


class Processes:
    """All background processes of this server. Safe to use from any thread."""

    def __init__(self, most: Callable[[], int], leftovers: Leftovers | None = None) -> None:
        """`most` is how many one conversation may have at once, as the settings say now."""
        self._most = most
        self._leftovers = leftovers
        self._all: dict[str, Background] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def start(self, start: Start, emit: Emit) -> Background:
        """Start one; raises `ToolProblem` when there are too many, else as `Background.begin`.

        Its end is told to `emit`, while there is somebody to hear it.
        """
        noted = self._leftovers.noted(start.command) if self._leftovers else None
        process = Background(start, noted or nullcontext(start.command), emit)
        with self._lock:
            self._forget_oldest(start.room)
            self._check_room(start.room)
            self._all[process.id] = process
        try:
            process.begin()
        except (OSError, ValueError):
            with self._lock:
                self._all.pop(process.id, None)
            raise
        return process

    def find(self, room: Room, process_id: str) -> Background | None:
        """By its id, which only those know who were told: also in the next turn of a chat."""
        process = self._all.get(process_id)
        is_theirs = process is not None and process.start.room.holder == room.holder
        return process if is_theirs else None

    def of(self, room: Room) -> list[Background]:
        """Those of this conversation, oldest first."""
        with self._lock:
            return [each for each in self._all.values() if each.start.room == room]

    def close(self) -> None:
        """End them all; nothing is started afterwards. Blocks for a moment."""
        with self._lock:
            self._is_closed = True
            processes = list(self._all.values())
        for process in processes:
            process.end()
        deadline = time.monotonic() + _GRACE + 2
        for process in processes:
            process.ended.wait(max(deadline - time.monotonic(), 0))

    def _check_room(self, room: Room) -> None:
        if self._is_closed:
            raise ToolProblem("Not started: the server is about to stop.")
        running = [each for each in self._all.values() if not each.ended.is_set()]
        own = sum(each.start.room == room for each in running)
        if own >= self._most():
            raise ToolProblem(
                f"Not started: {own} commands run in the background already, which is the limit. "
                "End one with process(action=kill), or run this one in the foreground."
            )
        if len(running) >= MOST:
            raise ToolProblem("Not started: the server runs too many commands. Try again later.")

    def _forget_oldest(self, room: Room) -> None:
        ended = [each for each in self._all.values() if each.ended.is_set()]
        own = [each for each in ended if each.start.room == room]
        for each in (*own[:-_ENDED_KEPT], *ended[:-MOST]):
            self._all.pop(each.id, None)


def _weakly(emit: Emit) -> Callable[[], Emit | None]:
    """An agent must not be kept alive by the commands it has started: no run, no report."""
    return weakref.WeakMethod(emit) if isinstance(emit, MethodType) else lambda: emit
