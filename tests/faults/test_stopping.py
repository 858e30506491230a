"""Stopping is quick, is confirmed, and reaches the provider's connection and the process group."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import ScriptedModel
from tests.faults.processes import children
from tests.faults.served import Served, serving, until

SLOW = Text(pieces=["one ", *["word "] * 3000], interval=0.03)
SLEEP = ToolUse("terminal", {"command": "echo begun > begun.txt; sleep 90"})
WITHIN = 1.0


def model(request: ModelRequest) -> Reply:
    return SLEEP if request.last_user_text == "sleep" else SLOW


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(ScriptedModel(model)) as provider:
        yield provider


@pytest.fixture
async def served(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path / "home", provider) as served:
        yield served


async def at_work(served: Served, provider: FakeProvider, what: str) -> None:
    """Return when the model speaks, or when its command runs."""
    await provider.wait_for_requests(1, within=10)
    if what == "sleep":
        file = served.home / "workspace" / "begun.txt"

        async def is_begun() -> bool:
            return file.exists() and bool(children(served.process.pid))

        await until(is_begun)


async def nothing_is_left(served: Served, provider: FakeProvider, what: str) -> None:
    async def is_gone() -> bool:
        if what == "sleep":
            return not children(served.process.pid)
        return provider.disconnects == 1

    await until(is_gone, within=WITHIN)


each_work = pytest.mark.parametrize("what", ["speak", "sleep"])


@each_work
async def test_a_stopped_run_is_over_in_less_than_a_second(
    served: Served, provider: FakeProvider, what: str
) -> None:
    _, run = await served.answer("POST", "/v1/runs", json={"input": what})
    await at_work(served, provider, what)
    began = time.monotonic()
    status, stopped = await served.answer("POST", f"/v1/runs/{run['id']}/stop")
    took = time.monotonic() - began

    assert (status, stopped["status"]) == (200, "cancelled")
    assert took < WITHIN
    await nothing_is_left(served, provider, what)


async def open_chat(served: Served, what: str, headers: dict[str, str]) -> aiohttp.ClientResponse:
    body = {"messages": [{"role": "user", "content": what}], "stream": True}
    return await served.http.post(served.url + "/v1/chat/completions", json=body, headers=headers)


async def open_response(
    served: Served, what: str, headers: dict[str, str]
) -> aiohttp.ClientResponse:
    body = {"input": what, "stream": True}
    return await served.http.post(served.url + "/v1/responses", json=body, headers=headers)


async def open_session(
    served: Served, what: str, headers: dict[str, str]
) -> aiohttp.ClientResponse:
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat/stream"
    return await served.http.post(served.url + path, json={"message": what}, headers=headers)


@each_work
@pytest.mark.parametrize("opened", [open_chat, open_response, open_session])
async def test_leaving_with_the_policy_cancel_ends_the_work_in_less_than_a_second(
    served: Served,
    provider: FakeProvider,
    what: str,
    opened: Callable[..., Any],
) -> None:
    response = await opened(served, what, {"X-Hermes-Disconnect": "cancel"})
    await at_work(served, provider, what)
    run_id = response.headers["X-Hermes-Run-Id"]
    response.close()
    await nothing_is_left(served, provider, what)

    async def is_cancelled() -> bool:
        return (await served.get(f"/v1/runs/{run_id}"))["status"] == "cancelled"

    await until(is_cancelled, within=2 * WITHIN)


@each_work
async def test_stop_ends_a_chat_that_runs_from_memory(
    served: Served, provider: FakeProvider, what: str
) -> None:
    response = await open_chat(served, what, {})
    await at_work(served, provider, what)
    run_id = response.headers["X-Hermes-Run-Id"]
    (status, run), body = await asyncio.gather(
        served.answer("POST", f"/v1/runs/{run_id}/stop"), response.read()
    )

    assert (status, run["status"]) == (200, "cancelled")
    assert body.endswith(b"data: [DONE]\n\n")
    await nothing_is_left(served, provider, what)
