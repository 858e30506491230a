"""The life of a gateway process: what is reported when, and what a signal does."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import web

from hermes.core.errors import SettingsError
from hermes.runs.turns import AgentRef, RunningTurns
from hermes.server.process import Service, serve
from hermes.settings.model import ListenerSettings


class Watched:
    """A service that notes what happens to it."""

    def __init__(self, listener: ListenerSettings) -> None:
        self.happened: list[str] = []
        self.url = ""
        self.is_ready = asyncio.Event()
        self.is_draining = asyncio.Event()
        self.running = RunningTurns()
        self.service = Service(
            application=web.Application(),
            listener=listener,
            running=self.running,
            on_ready=self._on_ready,
            report=self._report,
            close=self._close,
            stalled_write_seconds=60.0,
        )

    def _on_ready(self, url: str) -> None:
        self.happened.append("ready")
        self.url = url
        self.is_ready.set()

    async def _report(self, state: str, turns: int) -> None:
        self.happened.append(f"{state} {turns}")
        if state == "draining":
            self.is_draining.set()

    async def _close(self) -> None:
        self.happened.append("closed")


class Agent:
    """A running turn's agent: its turn ends when it is interrupted."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()
        self.reason = ""

    def interrupt(self, reason: str) -> None:
        self.reason = reason
        self.stopped.set()

    async def turn(self, running: RunningTurns) -> None:
        agent_ref: AgentRef = [self]
        with running.tracked(agent_ref):
            await self.stopped.wait()


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """Serving replaces handlers of this very process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_gateway_says_when_it_is_ready_and_when_it_has_stopped(
    number: signal.Signals,
) -> None:
    watched = Watched(ListenerSettings(port=0))
    serving = asyncio.create_task(serve(watched.service))
    async with asyncio.timeout(5):
        await watched.is_ready.wait()
        async with aiohttp.ClientSession() as http, http.get(watched.url) as response:
            assert response.status == 404
        os.kill(os.getpid(), number)
        await serving

    assert watched.happened == ["running 0", "ready", "draining 0", "stopped 0", "closed"]


async def test_the_url_has_the_port_the_system_chose() -> None:
    watched = Watched(ListenerSettings(port=0))
    serving = asyncio.create_task(serve(watched.service))
    async with asyncio.timeout(5):
        await watched.is_ready.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await serving

    assert watched.url.startswith("http://127.0.0.1:")
    assert not watched.url.endswith(":0")


async def test_a_turn_that_takes_too_long_is_interrupted() -> None:
    watched, agent = Watched(ListenerSettings(port=0, drain_seconds=0.05)), Agent()
    serving = asyncio.create_task(serve(watched.service))
    async with asyncio.timeout(5):
        await watched.is_ready.wait()
        turn = asyncio.create_task(agent.turn(watched.running))
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.gather(serving, turn)

    assert "shutting down" in agent.reason
    assert watched.happened[-2:] == ["stopped 0", "closed"]


async def test_a_second_signal_interrupts_at_once() -> None:
    watched, agent = Watched(ListenerSettings(port=0, drain_seconds=3600)), Agent()
    serving = asyncio.create_task(serve(watched.service))
    async with asyncio.timeout(5):
        await watched.is_ready.wait()
        turn = asyncio.create_task(agent.turn(watched.running))
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)
        await watched.is_draining.wait()
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.gather(serving, turn)

    assert agent.reason


async def test_an_address_that_is_taken_is_named_and_everything_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        watched = Watched(ListenerSettings(port=port))
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port}") as refused:
            await serve(watched.service)

    assert "in use" in str(refused.value)
    assert watched.happened == ["stopped 0", "closed"]
