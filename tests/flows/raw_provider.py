"""A provider that keeps what it is sent and says exactly the bytes it is given, when it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Self

OK = b"HTTP/1.1 200 OK\r\n"
EVENTS = OK + b"Content-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CHUNKED_EVENTS = (
    OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Vendor: kept\r\n\r\n"
)


class RawProvider:
    """Answers every connection with `says`, piece by piece: one per permission of `go_on`."""

    def __init__(self, says: Iterable[bytes], *, waits: bool = False) -> None:
        self.requests: list[bytes] = []
        self.sent = 0
        """How many bytes the network has taken."""
        self.go_on = asyncio.Semaphore(0)
        self.done = asyncio.Event()
        self._says = list(says)
        self._waits = waits

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.requests.append(await _request(reader))
            for piece in self._says:
                if self._waits:
                    await self.go_on.acquire()
                writer.write(piece)
                await writer.drain()
                self.sent += len(piece)
        except ConnectionError:
            pass
        finally:
            writer.close()
            self.done.set()


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    return head + await reader.readexactly(int(fields.get(b"content-length", 0)))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
