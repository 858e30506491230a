"""The connections to providers: opened when needed, kept for the next call, closed when old.

Belongs to one event loop and is only touched there.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import ssl
from collections.abc import Sequence

import aiohappyeyeballs
from aiohappyeyeballs import AddrInfoType

from hermes.providers.connection import Answer, Connection
from hermes.providers.network_errors import cannot_connect
from hermes.providers.way import Origin, Way

KEEP_ALIVE_SECONDS = 60.0

NEXT_ADDRESS_SECONDS = 0.25
"""How long a host's first address is waited for before its next one is tried beside it."""


class Pool:
    """Free connections by where they lead; the one used last is used first."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._free: dict[Origin, list[Connection]] = {}
        self._sweep: asyncio.TimerHandle | None = None
        self._is_closed = False

    async def ask(self, way: Way, body: bytes) -> Answer:
        """Send a request; the answer must be released by whoever gets it."""
        connection = self._take(way.origin) or await self._connect(way)
        return await connection.ask(b"%b%d\r\n\r\n%b" % (way.head, len(body), body))

    def close(self) -> None:
        """Close what is free; what is in use closes when it is released."""
        self._is_closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for connections in self._free.values():
            for connection in tuple(connections):
                connection.end()
        self._free.clear()

    def _take(self, origin: Origin) -> Connection | None:
        free = self._free.get(origin)
        return free.pop() if free else None

    def _keep(self, origin: Origin, connection: Connection) -> None:
        if self._is_closed:
            connection.end()
            return
        connection.idle_since = self._loop.time()
        self._free.setdefault(origin, []).append(connection)
        if self._sweep is None:
            self._sweep = self._loop.call_later(KEEP_ALIVE_SECONDS, self._close_old)

    def _lose(self, origin: Origin, connection: Connection) -> None:
        free = self._free.get(origin, [])
        if connection in free:
            free.remove(connection)

    def _close_old(self) -> None:
        """Runs as long as there is something to look after."""
        oldest = self._loop.time() - KEEP_ALIVE_SECONDS
        for origin, connections in list(self._free.items()):
            young = [connection for connection in connections if connection.idle_since > oldest]
            for connection in connections:
                if connection.idle_since <= oldest:
                    connection.end()
            if young:
                self._free[origin] = young
            else:
                del self._free[origin]
        self._sweep = (
            self._loop.call_later(KEEP_ALIVE_SECONDS, self._close_old) if self._free else None
        )

    async def _connect(self, way: Way) -> Connection:
        try:
            async with asyncio.timeout(way.connect_timeout):
                return await self._connected(way.host, way.origin)
        except OSError as error:  # TimeoutError and ssl.SSLError are such, too
            raise cannot_connect(way.host, error) from error

    async def _connected(self, host: str, origin: Origin) -> Connection:
        addresses = await self._addresses(origin)
        sock = await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS, loop=self._loop
        )
        try:
            _, connection = await self._loop.create_connection(
                lambda: Connection(
                    host,
                    on_free=functools.partial(self._keep, origin),
                    on_lost=functools.partial(self._lose, origin),
                ),
                sock=sock,
                ssl=_trust() if origin.is_tls else None,
                server_hostname=origin.host if origin.is_tls else None,
            )
        except BaseException:
            sock.close()
            raise
        return connection

    async def _addresses(self, origin: Origin) -> Sequence[AddrInfoType]:
        # What is an address already needs no resolver, and none of the threads it works in.
        with contextlib.suppress(OSError):
            return socket.getaddrinfo(
                origin.host, origin.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )
        return await self._loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)


@functools.cache
def _trust() -> ssl.SSLContext:
    """The system's certificates, or those `SSL_CERT_FILE` names."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
