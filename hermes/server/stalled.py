"""Cuts off clients that read nothing: what is written for them would stay in memory for ever.

All connections are looked at now and then, so a client that reads costs nothing. Cutting one off
cancels its handler, as if it had left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiohttp import web

log = logging.getLogger(__name__)

LOOKS = 16
"""So often nothing must have been read before a client is cut off: one look may come just when
as much was written as was read."""


@dataclass(frozen=True, slots=True)
class _Unread:
    since: float
    size: int


class StallWatch:
    """Looks after the connections of one server, from `start` to `stop`, on its event loop."""

    def __init__(
        self, transports: Callable[[], Iterable[asyncio.WriteTransport]], seconds: float
    ) -> None:
        self._transports = transports
        self._seconds = seconds
        self._unread: dict[asyncio.WriteTransport, _Unread] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.look(loop.time())
        self._timer = loop.call_later(self._seconds / LOOKS, self.start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def look(self, now: float) -> None:
        """Note who has something to read, and cut off whoever has read nothing for too long."""
        before, self._unread = self._unread, {}
        for transport in self._transports():
            size = transport.get_write_buffer_size()
            if not size:
                continue
            noted = before.get(transport)
            since = noted.since if noted is not None and size >= noted.size else now
            if now - since < self._seconds:
                self._unread[transport] = _Unread(since, size)
            else:
                log.info("client cut off: it reads nothing", extra={"unread_bytes": size})
                transport.abort()


def transports_of(runner: web.AppRunner) -> list[asyncio.WriteTransport]:
    """The open connections of a server."""
    server = runner.server
    connections = server.connections if server is not None else []
    found = (connection.transport for connection in connections)
    return [transport for transport in found if transport is not None]
