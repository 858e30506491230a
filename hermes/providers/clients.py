"""Our own client for model providers: SDK-shaped calls over one pool of connections.

Calls may be made from any thread; the network is only touched on the loop given to `HttpClients`.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from hermes.core.errors import Interrupted
from hermes.providers import anthropic, chat_completions, responses
from hermes.providers.bodies import encode_body
from hermes.providers.connection import Answer
from hermes.providers.driven_stream import DrivenStream as DrivenStream
from hermes.providers.driven_stream import Wire
from hermes.providers.endpoint import Endpoint as Endpoint
from hermes.providers.http_call import HttpCall, read_answer
from hermes.providers.loop_call import LoopCall
from hermes.providers.loop_thread import LoopThread as LoopThread
from hermes.providers.pool import Pool
from hermes.providers.proxied import ProxiedCalls
from hermes.providers.stall_watch import Limits
from hermes.providers.streams import CancelScope
from hermes.providers.thinking import thinks
from hermes.providers.way import Way, way_to

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


class Carriers:
    """The connections of one event loop; only touched there."""

    def __init__(self) -> None:
        self._direct = Pool()
        self._proxied = ProxiedCalls()

    async def ask(self, way: Way, body: bytes) -> Answer:
        carrier = self._direct if way.proxy is None else self._proxied
        return await carrier.ask(way, body)

    async def close(self) -> None:
        self._direct.close()
        await self._proxied.close()


class HttpClients:
    """The pool. One per process or server; closed by whoever made it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.running: set[asyncio.Task[Any]] = set()
        """The calls under way. Touched on the loop only."""
        self._carriers: Carriers | None = None
        self._is_closed = False
        self._ways: dict[tuple[Any, ...], Way] = {}

    def client(self, endpoint: Endpoint, *, cancel: CancelScope | None = None) -> HttpClient:
        """A client for one endpoint; costs nothing. `cancel` ends calls that are not streamed."""
        return HttpClient(self, endpoint, cancel or CancelScope())

    def carriers(self) -> Carriers:
        """What carries the calls, made on its first use. Only on the loop."""
        if self._is_closed:
            raise Interrupted("The clients for model calls are closed.")
        if self._carriers is None:
            self._carriers = Carriers()
        return self._carriers

    def way(self, endpoint: Endpoint, path: str) -> Way:
        """How to get there, worked out once per endpoint: every call to it goes the same way."""
        key = (endpoint.identity, path)
        way = self._ways.get(key)
        if way is None:
            way = self._ways[key] = way_to(endpoint, path)
        return way

    async def close(self) -> None:
        """End every call with Interrupted and close every connection. On the loop."""
        self._is_closed = True
        calls = list(self.running)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        if self._carriers is not None:
            await self._carriers.close()


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
            carrier=clients.carriers,
            call=self._call(path, {**body, "stream": True}, self._limits(body)),
            wire=wire,
        )

    def whole(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The whole answer; blocks the calling thread."""
        self._cancel.raise_if_cancelled()
        longest = self._endpoint.longest_silence
        call = self._call(path, body, Limits(longest, longest))
        loop_call = LoopCall(
            self._clients.loop, partial(self._answer, call), running=self._clients.running
        )
        with self._cancel.attach(loop_call.cancel):
            return loop_call.wait()

    async def _answer(self, call: HttpCall) -> dict[str, Any]:
        return await read_answer(self._clients.carriers(), call)

    def _limits(self, body: dict[str, Any]) -> Limits:
        endpoint = self._endpoint
        stale = endpoint.stale_timeout
        return Limits(stale, endpoint.longest_silence if thinks(body) else stale)

    def _call(self, path: str, body: dict[str, Any], limits: Limits) -> HttpCall:
        # The SDKs' two ways to say more than their parameters know.
        extra_headers = body.pop("extra_headers", None)
        extra_body = body.pop("extra_body", None)
        return HttpCall(
            way=way_to(self._endpoint, path, extra_headers)
            if extra_headers
            else self._clients.way(self._endpoint, path),
            body=encode_body({**body, **extra_body} if extra_body else body),
            limits=limits,
        )
