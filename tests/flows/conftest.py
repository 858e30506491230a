"""What the gateway's flows share: a scripted provider, a gateway before it, and clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import openai
import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.gateway import TestGateway
from hermes.testing.replies import Reply
from hermes.testing.scripted import Model, ModelRequest, ScriptedModel

KEY = "flow-key-0123456789"

Script = Iterable[Reply] | Callable[[ModelRequest], Reply] | Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A gateway at work: who it asks, and the two kinds of client that ask it."""

    model: Model
    provider: FakeProvider
    gateway: TestGateway
    http: aiohttp.ClientSession
    sdk: openai.AsyncOpenAI

    @property
    def requests(self) -> list[ModelRequest]:
        """What the provider was asked, where a script answers."""
        assert isinstance(self.model, ScriptedModel)
        return self.model.requests

    async def answer(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """The status and the JSON body of a request."""
        async with self.http.request(method, self.gateway.url + path, **options) as response:
            return response.status, await response.json()

    async def text(self, path: str, body: Any, **options: Any) -> str:
        """The whole body of a POST that is expected to succeed, a stream's for example."""
        async with self.http.post(self.gateway.url + path, json=body, **options) as response:
            assert response.status == 200, await response.text()
            return await response.text()


class StartFlow(Protocol):
    async def __call__(self, script: Script, *, home: Path | None = None, **options: Any) -> Flow:
        """Serve `script`; more options are those of `TestGateway`."""


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncIterator[StartFlow]:
    """Starts gateways that are closed when the test ends; a key is required unless `key=""`."""
    async with AsyncExitStack() as stack:

        async def start(script: Script, *, home: Path | None = None, **options: Any) -> Flow:
            model: Any = script if hasattr(script, "reply") else ScriptedModel(script)
            provider = await stack.enter_async_context(FakeProvider(model))
            key = options.setdefault("key", KEY)
            gateway = TestGateway(base_url=provider.base_url, home=home or tmp_path, **options)
            await stack.enter_async_context(gateway)
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            http = await stack.enter_async_context(aiohttp.ClientSession(headers=headers))
            sdk = openai.AsyncOpenAI(
                base_url=gateway.base_url, api_key=key or "none", max_retries=0
            )
            await stack.enter_async_context(sdk)
            return Flow(model=model, provider=provider, gateway=gateway, http=http, sdk=sdk)

        yield start


async def eventually(is_so: Callable[[], bool], within: float = 5.0) -> None:
    """Wait for something that has no event of its own to wait for."""
    async with asyncio.timeout(within):
        while not is_so():
            await asyncio.sleep(0.01)


async def raw_exchange(gateway: TestGateway, sent: bytes) -> tuple[bytes, bytes]:
    """Send bytes as they are and read until the server closes: the head and the body."""
    port = int(gateway.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        async with asyncio.timeout(5):
            received = await reader.read()
    finally:
        writer.close()
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body
