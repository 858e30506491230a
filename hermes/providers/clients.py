"""Our own client for model providers: SDK-shaped calls over one pool of connections.

Calls may be made from any thread; the network is only touched on the loop given to `HttpClients`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import aiohttp

from hermes.core.errors import Interrupted
from hermes.providers import anthropic, chat_completions, responses
from hermes.providers.driven_stream import DrivenStream as DrivenStream
from hermes.providers.driven_stream import Wire
from hermes.providers.endpoint import Endpoint as Endpoint
from hermes.providers.endpoint import headers_for, url_for
from hermes.providers.fields import encode_json
from hermes.providers.http_call import HttpCall, Way, read_answer
from hermes.providers.loop_call import LoopCall
from hermes.providers.loop_thread import LoopThread as LoopThread
from hermes.providers.proxies import proxy_for
from hermes.providers.streams import CancelScope

KEEP_ALIVE_SECONDS = 60.0

CHAT_WIRE = Wire(
    text_of=chat_completions.text_of,
    ends_answer=chat_completions.ends_answer,
    more_may_follow=True,
)
RESPONSES_WIRE = Wire(
    text_of=responses.text_of, ends_answer=responses.ends_answer, more_may_follow=False
)
MESSAGES_WIRE = Wire(
    text_of=anthropic.text_of, ends_answer=anthropic.ends_answer, more_may_follow=False
)


class HttpClients:
    """The pool. One per process or server; closed by whoever made it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.running: set[asyncio.Task[Any]] = set()
        """The calls under way. Touched on the loop only."""
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False
        self._ways: dict[tuple[Any, ...], Way] = {}

    def client(self, endpoint: Endpoint, *, cancel: CancelScope | None = None) -> HttpClient:
        """A client for one endpoint; costs nothing. `cancel` ends calls that are not streamed."""
        return HttpClient(self, endpoint, cancel or CancelScope())

    def session(self) -> aiohttp.ClientSession:
        """The shared session, made on its first use. Only on the loop."""
        if self._is_closed:
            raise Interrupted("The clients for model calls are closed.")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
                # Providers share this session: no cookie may wander from one to another.
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def way(self, endpoint: Endpoint, path: str) -> Way:
        """How to get there, worked out once per endpoint: every call to it goes the same way."""
        key = (endpoint.identity, path)
        way = self._ways.get(key)
        if way is None:
            way = self._ways[key] = _worked_out(endpoint, path)
        return way

    async def close(self) -> None:
        """End every call with Interrupted and close every connection. On the loop."""
        self._is_closed = True
        calls = list(self.running)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        if self._session is not None:
            await self._session.close()


def _worked_out(endpoint: Endpoint, path: str) -> Way:
    return Way(
        url=url_for(endpoint, path),
        host=endpoint.host,
        headers=headers_for(endpoint),
        secrets=endpoint.secrets(),
        proxy=proxy_for(url_for(endpoint, "")),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=endpoint.connect_timeout),
    )


class HttpClient:
    """Has the shape of the official SDKs, as far as the dialects use it."""

    def __init__(self, clients: HttpClients, endpoint: Endpoint, cancel: CancelScope) -> None:
        calls = _Calls(clients, endpoint, cancel)
        self.chat = _Chat(calls)
        self.responses = _Responses(calls)
        self.messages = _Messages(calls)

    def close(self) -> None:
        """Nothing to do: the connections belong to the pool."""


class _Chat:
    def __init__(self, calls: _Calls) -> None:
        self.completions = _ChatCompletions(calls)


class _ChatCompletions:
    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def create(self, *, stream: bool = False, **body: Any) -> Any:
        """A DrivenStream, or the whole answer as a dict."""
        if stream:
            return self._calls.stream("chat/completions", body, CHAT_WIRE)
        return self._calls.whole("chat/completions", body)


class _Responses:
    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def stream(self, **body: Any) -> DrivenStream:
        return self._calls.stream("responses", body, RESPONSES_WIRE)

    def create(self, *, stream: bool = False, **body: Any) -> Any:
        """A DrivenStream, or the whole answer as a dict."""
        return self.stream(**body) if stream else self._calls.whole("responses", body)


class _Messages:
    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def stream(self, **body: Any) -> DrivenStream:
        return self._calls.stream("messages", body, MESSAGES_WIRE)

    def create(self, *, stream: bool = False, **body: Any) -> Any:
        """A DrivenStream, or the whole answer as a dict."""
        return self.stream(**body) if stream else self._calls.whole("messages", body)


class _Calls:
    """Turns a path and a body into a call, in the calling thread."""

    def __init__(self, clients: HttpClients, endpoint: Endpoint, cancel: CancelScope) -> None:
        self._clients = clients
        self._endpoint = endpoint
        self._cancel = cancel

    def stream(self, path: str, body: dict[str, Any], wire: Wire) -> DrivenStream:
        clients = self._clients
        return DrivenStream(
            loop=clients.loop,
            running=clients.running,
            session=clients.session,
            call=self._call(path, {**body, "stream": True}, self._endpoint.stale_timeout),
            wire=wire,
        )

    def whole(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The whole answer; blocks the calling thread."""
        self._cancel.raise_if_cancelled()
        call = self._call(path, body, self._endpoint.answer_timeout)
        loop_call = LoopCall(
            self._clients.loop, partial(self._answer, call), running=self._clients.running
        )
        with self._cancel.attach(loop_call.cancel):
            return loop_call.wait()

    async def _answer(self, call: HttpCall) -> dict[str, Any]:
        return await read_answer(self._clients.session(), call)

    def _call(self, path: str, body: dict[str, Any], patience: float) -> HttpCall:
        # The SDKs' two ways to say more than their parameters know.
        extra_headers = body.pop("extra_headers", None)
        extra_body = body.pop("extra_body", None)
        way = self._clients.way(self._endpoint, path)
        return HttpCall(
            way=replace(way, headers={**way.headers, **extra_headers}) if extra_headers else way,
            body=encode_json({**body, **extra_body} if extra_body else body),
            patience=patience,
        )
