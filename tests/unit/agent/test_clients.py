"""The client that fits the provider, from a pool that fits the loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from hermes.agent.clients import BackgroundClients, ServerClients, endpoint_of, open_client
from hermes.providers.clients import HttpClient, HttpClients
from hermes.providers.demo.client import DemoClient
from hermes.providers.sdk import SdkClients
from hermes.providers.streams import CancelScope
from hermes.settings.model import ProviderSettings

WAIT = 5.0


def opened(provider: ProviderSettings, http: Any) -> Any:
    return open_client(provider, http=http, sdk=SdkClients(), cancel=CancelScope())


def unneeded() -> HttpClients:
    raise AssertionError("no connection is needed for this")


def test_the_demo_model_needs_no_connection() -> None:
    provider = ProviderSettings(provider="demo", model="demo")
    assert isinstance(opened(provider, unneeded), DemoClient)


async def test_a_provider_is_reached_over_http_by_default() -> None:
    pool = HttpClients(asyncio.get_running_loop())
    provider = ProviderSettings(provider="custom", model="m", base_url="http://localhost:1/v1")
    assert isinstance(opened(provider, lambda: pool), HttpClient)
    await pool.close()


def test_an_endpoint_says_all_that_the_settings_say() -> None:
    endpoint = endpoint_of(
        ProviderSettings(
            provider="custom",
            model="m",
            base_url="http://localhost:1/v1",
            api_key="sk-1",
            api_mode="anthropic_messages",
            headers={"X-Team": "a"},
            stale_seconds=7.0,
        )
    )
    assert (endpoint.base_url, endpoint.api_key) == ("http://localhost:1/v1", "sk-1")
    assert (endpoint.api_mode, endpoint.headers) == ("anthropic_messages", {"X-Team": "a"})
    assert endpoint.stale_timeout == 7.0


def test_a_server_has_one_pool_per_loop_and_a_new_one_after_closing() -> None:
    clients = ServerClients()

    async def use() -> tuple[HttpClients, HttpClients, HttpClients]:
        first, second = clients.here(), clients.here()
        await clients.close()
        third = clients.here()
        await clients.close()
        await clients.close()  # nothing is left to close
        return first, second, third

    first, second, third = asyncio.run(use())
    assert first is second
    assert third is not first
    assert asyncio.run(use())[0] not in (first, third)


def test_agents_without_a_server_share_one_pool_on_one_background_loop() -> None:
    background = BackgroundClients()
    together = threading.Barrier(4)
    seen: list[HttpClients] = []

    def use() -> None:
        together.wait(WAIT)
        seen.append(background.clients())

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    [pool] = set(seen)
    asyncio.run_coroutine_threadsafe(pool.close(), pool.loop).result(WAIT)
    pool.loop.call_soon_threadsafe(pool.loop.stop)
