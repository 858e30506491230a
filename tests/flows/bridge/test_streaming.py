"""Streams of the bridge, for those who switch them on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import openai
import pytest

from tests.flows.bridge.server import TOKEN, ask, idle, text_of
from tests.unit.backends.processes import WAIT_SECONDS, announced, ended


@pytest.fixture(autouse=True)
def _streaming(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGE_STREAMING", "1")


def body(wish: str) -> dict[str, object]:
    return {"stream": True, "messages": [{"role": "user", "content": wish}]}


async def test_a_stock_client_reads_the_stream(client: httpx.AsyncClient) -> None:
    base_url = f"{client.base_url}/v1"
    async with openai.AsyncOpenAI(base_url=base_url, api_key=TOKEN, max_retries=0) as stock:
        chunks = [
            chunk
            async for chunk in await stock.chat.completions.create(
                model="haiku",
                messages=[{"role": "user", "content": "pieces"}],
                stream=True,
                stream_options={"include_usage": True},
            )
        ]
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == "One, two."
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 3


async def test_a_cli_that_says_nothing_in_pieces_is_heard_in_the_end(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post("/v1/chat/completions", json=body("hello"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "You said 5 characters." in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")


async def test_what_fails_before_a_word_is_said_has_a_status(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/chat/completions", json=body("fail"))
    assert answer.status_code == 503
    assert answer.json()["error"] == "execution failed"
    await idle(client)


async def test_what_fails_later_is_told_in_the_stream_which_is_not_done(
    client: httpx.AsyncClient, workspace: Path
) -> None:
    async with client.stream("POST", "/v1/chat/completions", json=body("breaks")) as answer:
        assert answer.status_code == 200
        lines = answer.aiter_lines()
        async for line in lines:
            if "One, " in line:
                break
        (workspace / "go").touch()
        rest = [line async for line in lines if line]
    told = json.loads(rest[-1].removeprefix("data: "))
    assert told == {"error": "execution failed", "detail": "API Error: 529 overloaded"}
    assert "[DONE]" not in "".join(rest)
    await idle(client)


async def test_whoever_leaves_a_stream_ends_the_run(
    client: httpx.AsyncClient, workspace: Path
) -> None:
    asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body("slow")))
    pids = await announced(workspace / "pids")
    asking.cancel()
    await ended(pids)
    await idle(client)


async def test_whoever_leaves_in_the_middle_of_a_stream_ends_the_run(
    client: httpx.AsyncClient,
) -> None:
    async with (
        asyncio.timeout(WAIT_SECONDS),
        client.stream("POST", "/v1/chat/completions", json=body("breaks")) as answer,
    ):
        async for line in answer.aiter_lines():
            if "One, " in line:
                break
    await idle(client)
    assert text_of(await ask(client, "hello")) == "You said 5 characters."
