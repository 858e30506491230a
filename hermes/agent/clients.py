"""The client that talks to a configured provider: the demo model, our own HTTP client or an SDK."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from hermes.providers.clients import Endpoint, HttpClients, LoopThread
from hermes.providers.demo.client import DemoClient
from hermes.providers.sdk import SdkClients
from hermes.providers.streams import CancelScope
from hermes.providers.thinking import is_thinking_model
from hermes.settings.model import ProviderSettings


def open_client(
    provider: ProviderSettings,
    *,
    http: Callable[[], HttpClients],
    sdk: SdkClients,
    cancel: CancelScope,
) -> Any:
    """A client in the SDKs' shape. Takes microseconds and opens no connection."""
    if provider.provider == "demo":
        return DemoClient()
    if provider.transport == "sdk":
        return sdk.client(endpoint_of(provider), thinks=is_thinking_model(provider.model))
    return http().client(endpoint_of(provider), cancel=cancel)


def endpoint_of(provider: ProviderSettings) -> Endpoint:
    return Endpoint(
        base_url=provider.base_url,
        api_key=provider.api_key,
        api_mode=provider.api_mode,
        headers=provider.headers,
        stale_timeout=provider.stale_seconds,
        thinking_timeout=provider.reasoning_stale_seconds,
    )


class ServerClients:
    """The HTTP clients of a server: one pool of connections per event loop it runs on."""

    def __init__(self) -> None:
        self._pools: dict[int, tuple[asyncio.AbstractEventLoop, HttpClients]] = {}

    def here(self) -> HttpClients:
        """The pool of the running loop."""
        loop = asyncio.get_running_loop()
        kept = self._pools.get(id(loop))
        # An id can be that of an earlier, closed loop; the loop itself is compared too.
        if kept is None or kept[0] is not loop:
            kept = self._pools[id(loop)] = (loop, HttpClients(loop))
        return kept[1]

    async def close(self) -> None:
        """Close the connections of the running loop."""
        kept = self._pools.pop(id(asyncio.get_running_loop()), None)
        if kept is not None:
            await kept[1].close()


class BackgroundClients:
    """The HTTP clients of agents that are used without a server: a loop in a thread, made late."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: HttpClients | None = None

    def clients(self) -> HttpClients:
        with self._lock:
            if self._clients is None:
                self._clients = HttpClients(LoopThread().loop)
            return self._clients
