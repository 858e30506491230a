"""Clients that leave and come back, and clients that wait for others: what becomes of the turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from hermes.testing.replies import Text
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow, eventually

SLOW = Text(pieces=["Once ", "upon ", "a ", "time."], interval=0.3)


def asked(stream: bool) -> tuple[str, dict[str, Any]]:
    return "/v1/chat/completions", {
        "stream": stream,
        "messages": [{"role": "user", "content": "Tell me a story"}],
    }


async def leave_early(served: Flow, path: str, body: Any, **headers: str) -> None:
    """Ask, and close the connection as soon as the model is at work."""
    asking = asyncio.ensure_future(
        served.http.post(served.gateway.url + path, json=body, headers=headers)
    )
    await eventually(lambda: bool(served.requests))
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_chat_with_an_idempotency_key_goes_on_without_its_client(
    flow: StartFlow, stream: bool
) -> None:
    served = await flow([SLOW])
    path, body = asked(stream)
    key = {"Idempotency-Key": "k-1"}
    await leave_early(served, path, body, **key)
    async with served.http.post(served.gateway.url + path, json=body, headers=key) as again:
        said = await again.text()
        assert (again.status, again.headers["Idempotency-Replayed"]) == (200, "true")
    if stream:
        chunks = [json.loads(each.data) for each in parse_events(said.encode())[:-1]]
        text = "".join(each["choices"][0]["delta"].get("content", "") for each in chunks)
    else:
        text = json.loads(said)["choices"][0]["message"]["content"]

    assert text == "Once upon a time."
    assert len(served.requests) == 1


async def test_whoever_waits_for_a_session_is_told_its_place(flow: StartFlow) -> None:
    served = await flow([SLOW, SLOW, Text("Done.")])
    session = {"session_id": "shared"}
    await served.answer("POST", "/v1/runs", json={"input": "one", **session})
    await served.answer("POST", "/v1/runs", json={"input": "two", **session})
    _, run = await served.answer("POST", "/v1/runs", json={"input": "three", **session})
    first, second = await _first_events(served, run["events_url"], 2)

    assert (run["status"], run["queue_position"]) == ("queued", 2)
    assert (first["type"], first["seq"], first["place"]) == ("run.queued", 0, 2)
    assert (second["type"], second["place"]) == ("run.queued", 1)


async def _first_events(served: Flow, path: str, count: int) -> list[dict[str, Any]]:
    timeout = aiohttp.ClientTimeout(total=10)
    events: list[dict[str, Any]] = []
    async with served.http.get(served.gateway.url + path, timeout=timeout) as response:
        async for line in response.content:
            if line.startswith(b"data: "):
                events.append(json.loads(line[6:]))
            if len(events) == count:
                return events
    raise AssertionError("the stream ended too early")
