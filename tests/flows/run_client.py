"""What a client of runs does, over and over: begin one, wait for it, read its log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp

from hermes.settings.paths import default_workspace
from hermes.testing.replies import Broken, ToolUse
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow

RUNS = "/v1/runs"
ENDED = ("completed", "failed", "cancelled", "interrupted")
STALLED = Broken("Half an ans", how="stall")
"""A reply that begins and never ends by itself."""


async def begin(served: Flow, **body: Any) -> dict[str, Any]:
    """A run that was accepted."""
    status, run = await served.answer("POST", RUNS, json={"input": "Hi", **body})
    assert status in (200, 202), run
    found: dict[str, Any] = run
    return found


async def show(served: Flow, run_id: str) -> dict[str, Any]:
    status, run = await served.answer("GET", f"{RUNS}/{run_id}")
    assert status == 200, run
    found: dict[str, Any] = run
    return found


async def in_state(served: Flow, run_id: str, *wanted: str) -> dict[str, Any]:
    """The run as soon as it is in one of these states."""
    async with asyncio.timeout(10):
        while (run := await show(served, run_id))["status"] not in wanted:
            assert run["status"] not in ENDED, run
            await asyncio.sleep(0.01)
    return run


async def ended(served: Flow, run_id: str) -> dict[str, Any]:
    return await in_state(served, run_id, *ENDED)


async def stream(served: Flow, run_id: str, query: str = "", **options: Any) -> str:
    """The log of a run as bytes would be compared: to its end."""
    url = f"{served.gateway.url}{RUNS}/{run_id}/events{query}"
    async with served.http.get(url, **options) as response:
        assert response.status == 200, await response.text()
        return await response.text()


async def events(served: Flow, run_id: str, query: str = "", **options: Any) -> list[Any]:
    """The same, read."""
    return read(await stream(served, run_id, query, **options))


def read(text: str) -> list[Any]:
    """The payloads of a stream of JSON; `[DONE]` is none."""
    return [json.loads(each.data) for each in parse_events(text) if each.data != "[DONE]"]


def kinds(told: list[Any]) -> list[str]:
    return [event["type"] for event in told]


async def until(response: aiohttp.ClientResponse, part: str) -> str:
    """What a stream said up to the piece that has this in it."""
    said = ""
    async with asyncio.timeout(5):
        while part not in said:
            piece = await response.content.readany()
            assert piece, f"ended without {part!r}: {said}"
            said += piece.decode()
    return said


def kept_runs(served: Flow) -> Any:
    """The store of runs, to look into."""
    return served.gateway.adapter.seams.runs_store()


def as_other(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


HELD = ToolUse("terminal", {"command": "until [ -e go ]; do sleep 0.02; done; echo went"})
"""A command that runs until `release` is called."""


def release(home: Path) -> None:
    (default_workspace(home) / "go").touch()
