"""The gateway for tests: real sockets in, no trace of the environment, nothing left behind."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.gateway import TestGateway
from hermes.testing.replies import Broken, Text, ToolUse
from hermes.testing.scripted import ScriptedModel

ASKED: list[Any] = [{"role": "user", "content": "What files are there?"}]


def sdk(gateway: TestGateway, key: str = "none") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=gateway.base_url, api_key=key, max_retries=0)


async def test_the_agent_asks_the_given_provider_and_runs_its_tools(tmp_path: Path) -> None:
    model = ScriptedModel([ToolUse("list_files", {"path": "."}), Text("One file.")])
    async with (
        FakeProvider(model) as provider,
        TestGateway(base_url=provider.base_url, home=tmp_path) as gateway,
        sdk(gateway) as client,
    ):
        (tmp_path / "workspace" / "here.txt").write_text("")
        answer = await client.chat.completions.create(model="any", messages=ASKED)

    assert answer.choices[0].message.content == "One file."
    assert "here.txt" in model.requests[1].body["messages"][-1]["content"]
    assert model.requests[0].body["model"] == "fake"


async def test_without_a_provider_the_demo_model_answers_from_its_workspace(tmp_path: Path) -> None:
    async with TestGateway(home=tmp_path) as gateway, sdk(gateway) as client:
        answer = await client.chat.completions.create(model="any", messages=ASKED)

    assert "notes.txt" in (answer.choices[0].message.content or "")


async def test_the_key_is_required_when_there_is_one(tmp_path: Path) -> None:
    async with TestGateway(home=tmp_path, key="k-12345678") as gateway:
        async with sdk(gateway, "wrong") as client:
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()
        async with sdk(gateway, "k-12345678") as client:
            assert (await client.models.list()).data[0].id == "hermes-agent"


async def test_the_environment_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_SERVER_KEY", "from-the-environment")
    monkeypatch.setenv("API_SERVER_MODEL_NAME", "from-the-environment")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "elsewhere"))
    async with TestGateway(home=tmp_path / "home") as gateway, aiohttp.ClientSession() as http:
        models = await (await http.get(f"{gateway.base_url}/models")).json()
        created = await http.post(f"{gateway.url}/api/sessions", json={"id": "s1"})

    assert models["data"][0]["id"] == "hermes-agent"
    assert created.ok
    assert (tmp_path / "home" / "state.db").exists()
    assert not (tmp_path / "elsewhere").exists()


async def test_more_settings_reach_listener_and_agent(tmp_path: Path) -> None:
    options = {"max_iterations": 1}
    async with TestGateway(home=tmp_path, agent=options, keepalive_seconds=0.5) as gateway:
        agent = gateway.adapter._create_agent()

        assert agent.max_iterations == 1
        assert gateway.adapter.listener.keepalive_seconds == 0.5


async def test_closing_stops_a_running_turn_and_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    model = ScriptedModel([Broken(how="stall")])
    async with FakeProvider(model) as provider, aiohttp.ClientSession() as http:
        gateway = await TestGateway(base_url=provider.base_url, home=tmp_path).__aenter__()
        body = {"model": "any", "messages": ASKED, "stream": True}
        asking = asyncio.ensure_future(http.post(f"{gateway.base_url}/chat/completions", json=body))
        await provider.wait_for_requests()
        await gateway.close()
        await provider.wait_for_disconnects()
        await asyncio.gather(asking, return_exceptions=True)
    await gateway.close()

    started = set(threading.enumerate()) - before
    for thread in started:
        await asyncio.to_thread(thread.join, 5)
    assert [thread.name for thread in started if thread.is_alive()] == []
