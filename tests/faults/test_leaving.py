"""Five hundred clients leave in the middle of their streams: nothing of them stays behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import ScriptedModel
from tests.faults.processes import children, memory, threads
from tests.faults.served import Served, serving, until

CLIENTS = 500
AT_ONCE = 100
MOST_GROWTH = 100 * 1024 * 1024
MOST_THREADS = 25
"""A tool's thread stays for the next tool; one for each command would be twice as many."""
SLOW = Text(pieces=["word "] * 3000, interval=0.05)
CANCEL = {"X-Hermes-Disconnect": "cancel"}


def wants_a_command(request: ModelRequest) -> bool:
    return request.last_user_text.endswith("7")


def reply(request: ModelRequest) -> Reply:
    """Some of them leave while a command runs."""
    return ToolUse("terminal", {"command": "sleep 90"}) if wants_a_command(request) else SLOW


async def come_and_leave(served: Served, number: int) -> None:
    """Read until the model speaks, or its command runs, and close the connection."""
    path, body = await _request(served, number)
    async with served.http.post(served.url + path, json=body, headers=CANCEL) as response:
        assert response.status == 200, await response.text()
        seen = b""
        while b"word" not in seen and b"sleep" not in seen:
            seen += await response.content.readany()
        response.close()


async def _request(served: Served, number: int) -> tuple[str, Any]:
    said = f"client {number}"
    match number % 3:
        case 0:
            message = {"role": "user", "content": said}
            return "/v1/chat/completions", {"messages": [message], "stream": True}
        case 1:
            return "/v1/responses", {"input": said, "stream": True}
        case _:
            _, made = await served.answer("POST", "/api/sessions", json={})
            return f"/api/sessions/{made['session']['id']}/chat/stream", {"message": said}


async def active(served: Served) -> int:
    return int((await served.get("/health/detailed"))["active_agents"])


async def leave(served: Served, numbers: range) -> None:
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with room:
            await come_and_leave(served, number)

    await asyncio.gather(*map(one, numbers))


async def everybody_is_gone(served: Served, provider: FakeProvider, model: ScriptedModel) -> None:
    """No turn, no command, nothing that the provider still talks to."""

    async def is_idle() -> bool:
        answered = sum(map(wants_a_command, model.requests))
        talking = provider.requests_seen - provider.disconnects - answered
        return not (talking or await active(served) or children(served.process.pid))

    await until(is_idle, within=30)


@pytest.mark.timeout(180)
async def test_five_hundred_clients_that_leave_mid_stream_leave_nothing_behind(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(reply)
    async with (
        FakeProvider(model) as provider,
        serving(tmp_path / "home", provider) as served,
    ):
        pid = served.process.pid
        await leave(served, range(AT_ONCE))  # makes the threads and caches that stay for good
        await everybody_is_gone(served, provider, model)
        threads_before, memory_before = threads(pid), memory(pid)
        await leave(served, range(CLIENTS))
        await everybody_is_gone(served, provider, model)
        threads_after, memory_after = threads(pid), memory(pid)
        unsettled = await served.get("/v1/runs?limit=1&status=queued,running,stopping")
        connections = provider.open_connections

    assert len(model.requests) == AT_ONCE + CLIENTS
    assert unsettled["data"] == []
    assert threads_after - threads_before < MOST_THREADS
    assert connections <= AT_ONCE
    assert memory_after - memory_before < MOST_GROWTH
