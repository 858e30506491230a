"""Calls that go through a proxy. Rare enough to leave their handshakes to aiohttp."""

from __future__ import annotations

import aiohttp

from hermes.providers.connection import Answer, Sink
from hermes.providers.network_errors import through_proxy
from hermes.providers.way import Way


class ProxiedCalls:
    """Has its own pool of connections, made on first use. Belongs to one event loop."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, way: Way, body: bytes) -> Answer:
        """Send a request; the answer must be released by whoever gets it."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=way.connect_timeout)
        try:
            response = await self._opened().post(
                way.url,
                data=body,
                headers=way.headers,
                proxy=way.proxy,
                timeout=timeout,
                # A redirect would carry the key to wherever it points.
                allow_redirects=False,
            )
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise through_proxy(way.host, error) from error
        return _ProxiedAnswer(way.host, response)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                # Providers share this session: no cookie may wander from one to another.
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


class _ProxiedAnswer:
    def __init__(self, host: str, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._host = host
        self._response = response

    @property
    def is_complete(self) -> bool:
        return self._response.content.at_eof()

    async def pass_to(self, sink: Sink) -> None:
        try:
            while data := await self._response.content.readany():
                sink(data)
        except (aiohttp.ClientError, OSError) as error:
            raise through_proxy(self._host, error) from error

    def release(self) -> None:
        if self.is_complete:
            self._response.release()
        else:
            self._response.close()
