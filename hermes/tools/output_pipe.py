"""The reading end of a command's output, and how its writers are asked to end."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from hermes.tools.process_group import Group, has_exited, signal_group

TICK = 0.05  # how late a stop or an exit is noticed, in seconds
_CHUNK = 65_536
_PIPE_MOST = 1_048_576  # what a pipe can hold at most: output from before the leader's exit

Watch = Callable[[bytes], None]


class Buffer(Protocol):
    """Where output goes."""

    total: int
    """How many bytes it was given."""

    def add(self, chunk: bytes) -> None: ...


class OutputPipe:
    """Reads a group's output into a buffer; for one thread. Closed with the `with` block."""

    def __init__(self, process: Group, buffer: Buffer, watch: Watch = lambda _chunk: None) -> None:
        assert process.stdout is not None
        self._file = process.stdout
        self._fd = self._file.fileno()
        os.set_blocking(self._fd, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fd, selectors.EVENT_READ)
        self._buffer = buffer
        self._watch = watch
        self.is_closed = False
        """Whether nobody can write any more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._selector.close()
        self._file.close()

    def read(self, wait: float) -> bool:
        """Take what is there, waiting at most `wait` seconds for it. False: nothing came."""
        if self.is_closed or not self._selector.select(wait):
            return False
        try:
            chunk = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        self.is_closed = not chunk
        self._buffer.add(chunk)
        self._watch(chunk)
        return True

    def drain(self) -> None:
        """Take what the leader wrote before it exited; bounded, as others may still be writing."""
        until = self._buffer.total + _PIPE_MOST
        while self._buffer.total < until and self.read(0):
            pass


def ask_to_end(process: Group, pipe: OutputPipe, grace: float) -> None:
    """Give the group a moment to end by itself; it is over early when nobody holds the pipe."""
    signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and not (pipe.is_closed and has_exited(process)):
        if pipe.is_closed:
            time.sleep(0.005)
        else:
            pipe.read(TICK)
