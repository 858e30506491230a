"""What a server's process says on stderr: logged for whoever looks for it, the last line kept."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

log = logging.getLogger(__name__)

LONGEST_LINE = 500


class LastWords(asyncio.Protocol):
    """The reading end of a pipe. Lives on one event loop."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._unfinished = b""
        self.line = ""
        """The last one that said anything."""

    def data_received(self, data: bytes) -> None:
        *lines, rest = (self._unfinished + data).split(b"\n")
        self._unfinished = rest[-LONGEST_LINE:]
        for line in lines:
            self.add(line.decode(errors="replace"))

    def connection_lost(self, _error: Exception | None) -> None:
        self.add(self._unfinished.decode(errors="replace"))

    def add(self, line: str) -> None:
        text = line.strip()[:LONGEST_LINE]
        if text:
            self.line = text
            log.debug("an MCP server says", extra={"server": self._server, "line": text})


@asynccontextmanager
async def overheard(words: LastWords) -> AsyncIterator[TextIO]:
    """A file to be a process's stderr, for as long as the process is being started."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stderr:
        pipe = os.fdopen(reading, "rb", 0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: words, pipe)
        yield stderr
