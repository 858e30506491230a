"""Our ends of a process's pipes, on the event loop: never a wait, whatever the process does.

Pipes of our own and not asyncio's: those may be sockets, whose size cannot be chosen, and stop
reading when their reader is slow. Some CLIs exit without waiting until their pipe is empty, so
what does not fit into it in time is lost.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

OUTPUT_PIPE_SIZE = 1024 * 1024
_CHUNK = 64 * 1024  # a loop that has others to serve takes no more at once


class Descriptors:
    """Those that are closed with the block, except for what somebody has taken over."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def pipe(self, size: int | None = None) -> tuple[int, int]:
        """Where to read, and where to write. Raises `OSError`."""
        ends = os.pipe()
        self._open.update(ends)
        if size is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):  # the user has too many big ones already
                fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, size)
        return ends

    def take(self, descriptor: int) -> int:
        """It is the caller's to close now."""
        self._open.discard(descriptor)
        return descriptor


class OutputPipe:
    """Gives on what a process prints, as soon as it is there."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor: int | None = descriptor
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when nobody can write any more, or nobody reads."""

    def listen(self, take: Callable[[bytes], None]) -> None:
        """From now on `take` gets everything; it must not raise."""
        if self._descriptor is not None:
            self._loop.add_reader(self._descriptor, self._on_readable, take)

    def close(self) -> None:
        """Closing twice is fine."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
            if not self.ended.done():
                self.ended.set_result(None)

    def _on_readable(self, take: Callable[[bytes], None]) -> None:
        if self._descriptor is None:
            return
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            take(chunk)
        else:
            self.close()


class InputPipe:
    """Takes any amount at once and passes it on as fast as the process reads it."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor: int | None = descriptor
        self._loop = asyncio.get_running_loop()
        self._left: deque[memoryview] = deque()
        self._must_close = False
        self._waits = False

    def write(self, data: bytes) -> None:
        """What comes after the end, or when nobody reads any more, is dropped."""
        if self._descriptor is not None and not self._must_close and data:
            self._left.append(memoryview(data))
            self._pass_on()

    def finish(self) -> None:
        """Close it once everything has been read."""
        self._must_close = True
        self._pass_on()

    def close(self) -> None:
        """Close it now; closing twice is fine."""
        if self._descriptor is not None:
            self._wait(is_needed=False)
            os.close(self._descriptor)
            self._descriptor = None
            self._left.clear()

    def _pass_on(self) -> None:
        try:
            self._write_what_fits()
        except BlockingIOError:
            self._wait(is_needed=True)
            return
        except OSError:  # nobody reads any more: the process tells why, if it does
            self.close()
            return
        self._wait(is_needed=False)
        if self._must_close:
            self.close()

    def _write_what_fits(self) -> None:
        while self._left and self._descriptor is not None:
            written = os.write(self._descriptor, self._left[0])
            rest = self._left.popleft()[written:]
            if rest:
                self._left.appendleft(rest)

    def _wait(self, *, is_needed: bool) -> None:
        if self._descriptor is None or is_needed == self._waits:
            return
        self._waits = is_needed
        if is_needed:
            self._loop.add_writer(self._descriptor, self._pass_on)
        else:
            self._loop.remove_writer(self._descriptor)
