"""SIGTERM with work in flight: every stream ends properly, and what waited is carried out later."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from pathlib import Path
from typing import Any

import aiohttp

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Broken, Reply, Text
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import ScriptedModel
from hermes.testing.sse import parse_events
from tests.faults.served import Served, configure, serving, until

DRAIN_SECONDS = 1.0
DEADLINE = DRAIN_SECONDS + 5.0


def model(request: ModelRequest) -> Reply:
    """Never comes to an end, except for what is asked later."""
    return Text("Done.") if request.last_user_text == "later" else Broken("Begun.", how="stall")


async def opened(served: Served, path: str, body: Any) -> aiohttp.ClientResponse:
    """A stream of which the first words have been read."""
    response = await served.http.post(served.url + path, json=body)
    assert response.status == 200, await response.text()
    async with asyncio.timeout(10):
        while b"Begun." not in await response.content.readline():
            pass
    return response


async def draining(served: Served) -> None:
    served.process.send_signal(signal.SIGTERM)
    state = served.home / "gateway_state.json"

    async def is_so() -> bool:
        return json.loads(state.read_text())["gateway_state"] == "draining"

    await until(is_so)


async def test_every_open_stream_gets_its_terminal_event_and_new_work_is_refused(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    configure(home, f"server:\n  drain_seconds: {DRAIN_SECONDS}\n")
    said = {"messages": [{"role": "user", "content": "x"}], "stream": True}
    async with FakeProvider(ScriptedModel(model)) as provider:
        async with serving(home, provider) as served:
            _, made = await served.answer("POST", "/api/sessions", json={})
            session = f"/api/sessions/{made['session']['id']}/chat/stream"
            _, run = await served.answer("POST", "/v1/runs", json={"input": "x"})
            streams = [
                await opened(served, "/v1/chat/completions", said),
                await opened(served, "/v1/responses", {"input": "x", "stream": True}),
                await opened(served, session, {"message": "x"}),
                await served.http.get(f"{served.url}/v1/runs/{run['id']}/events"),
            ]
            began = time.monotonic()
            await draining(served)
            refused = await served.http.post(f"{served.url}/v1/runs", json={"input": "late"})
            error = (await refused.json())["error"]["code"]
            chat, response, talk, events = await asyncio.gather(*(s.read() for s in streams))
            exit_code = await asyncio.wait_for(served.process.wait(), DEADLINE)
            took = time.monotonic() - began
        async with serving(home, provider) as again:
            stored = await again.get(f"/v1/runs/{run['id']}")

    assert (exit_code, refused.status, error) == (0, 503, "draining")
    assert int(refused.headers["Retry-After"]) > 0
    assert took < DEADLINE
    assert chat.endswith(b"data: [DONE]\n\n")
    assert b"event: response.incomplete" in response
    assert response.endswith(b"data: [DONE]\n\n")
    assert parse_events(talk.lstrip(b"\n"))[-1].event == "done"
    assert parse_events(events)[-1].event == "run.interrupted"
    assert stored["status"] == "interrupted"


async def test_runs_that_waited_are_carried_out_after_the_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    configure(home, "server:\n  drain_seconds: 0.2\n")
    async with FakeProvider(ScriptedModel(model)) as provider:
        async with serving(home, provider) as served:
            first = {"input": "x", "session_id": "one"}
            _, at_work = await served.answer("POST", "/v1/runs", json=first)
            second = {"input": "later", "session_id": "one"}
            _, waiting = await served.answer("POST", "/v1/runs", json=second)
            await provider.wait_for_requests(1)
            assert await served.stop() == 0
        async with serving(home, provider) as again:

            async def is_done() -> bool:
                return (await again.get(f"/v1/runs/{waiting['id']}"))["status"] == "completed"

            await until(is_done)
            ended = await again.get(f"/v1/runs/{at_work['id']}")
            output = (await again.get(f"/v1/runs/{waiting['id']}"))["output"]

    assert waiting["status"] == "queued"
    assert (ended["status"], output) == ("interrupted", "Done.")
