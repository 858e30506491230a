"""The bridge as its users meet it: uvicorn on loopback, a process as CLI, real repositories."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from app import main
from tests.flows.bridge.server import TOKEN, ask, idle, text_of
from tests.unit.backends.processes import WAIT_SECONDS, announced, ended
from tests.unit.backends.repositories import World, commit, make_world


async def test_an_openai_client_gets_its_answer_with_real_usage(client: httpx.AsyncClient) -> None:
    base_url = f"{client.base_url}/v1"
    async with openai.AsyncOpenAI(base_url=base_url, api_key=TOKEN, max_retries=0) as stock:
        answer = await stock.chat.completions.create(
            model="haiku", messages=[{"role": "user", "content": "hello"}]
        )
        listed = [model.id async for model in stock.models.list()]
    assert answer.choices[0].message.content == "You said 5 characters."
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (45, 3)
    assert answer.model_extra is not None
    assert answer.model_extra["hermes"] == {
        "cost_usd": 0.002,
        "session_id": "s-1",
        "git_sync": "not a repository",
    }
    assert listed == ["haiku", "sonnet", "opus"]


async def test_a_prompt_longer_than_any_argument_arrives(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "x" * 300_000)) == "You said 300000 characters."


async def test_an_answer_of_a_megabyte_arrives_whole(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "huge")) == "x" * 1_000_000


@pytest.mark.parametrize(
    ("wish", "detail"),
    [
        ("fail", "API Error: 529 overloaded"),
        ("exit", "the disk is on fire"),
        ("cut", "broke off in the middle of a line"),
    ],
)
async def test_a_run_that_fails_is_told_in_the_clis_words(
    client: httpx.AsyncClient, wish: str, detail: str
) -> None:
    answer = await ask(client, wish)
    assert answer.status_code == 503
    assert answer.json()["error"] == "execution failed"
    assert detail in answer.json()["detail"]
    await idle(client)


async def test_the_cli_sees_its_login_but_not_our_token(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-flow")
    monkeypatch.setenv("UNRELATED_SECRET", "do-not-pass")
    seen = text_of(await ask(client, "env"))
    assert "sk-ant-flow" in seen
    assert TOKEN not in seen
    assert "do-not-pass" not in seen


async def test_a_client_that_leaves_takes_the_whole_group_with_it(
    client: httpx.AsyncClient, workspace: Path
) -> None:
    asking = asyncio.ensure_future(ask(client, "slow"))
    pids = await announced(workspace / "pids")
    busy = await ask(client, "hello")
    assert busy.status_code == 503
    assert "busy" in busy.json()["detail"]
    assert int(busy.headers["Retry-After"]) > 0
    asking.cancel()
    await ended(pids)
    await idle(client)
    assert text_of(await ask(client, "hello")) == "You said 5 characters."


async def test_a_run_that_takes_too_long_is_ended(
    client: httpx.AsyncClient, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_TIMEOUT_SECONDS", "3")
    answer = await ask(client, "slow")
    assert answer.status_code == 503
    assert "raise BRIDGE_TIMEOUT_SECONDS" in answer.json()["detail"]
    await ended(await announced(workspace / "pids"))


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_only_health_is_open_to_everybody(client: httpx.AsyncClient, method: str) -> None:
    path = "/v1/models" if method == "GET" else "/v1/chat/completions"
    answer = await client.request(method, path, headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    health = await client.get("/health", headers={"Authorization": ""})
    assert health.json() == {
        "status": "ok",
        "busy": False,
        "active": 0,
        "queued": 0,
        "capacity": 1,
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("GET", "/nowhere", 404, "not found"),
        ("POST", "/v1/chat/completions/", 404, "not found"),
        ("GET", "/v1/chat/completions", 405, "method not allowed"),
    ],
)
async def test_what_is_not_served_is_answered_in_json(
    client: httpx.AsyncClient, method: str, path: str, status: int, error: str
) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"] == error
    assert "POST /v1/chat/completions" in answer.json()["detail"]


async def test_a_broken_body_is_refused_in_json(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/chat/completions", content=b"{nonsense")
    assert answer.status_code == 400
    assert "not valid JSON" in answer.json()["detail"]


async def test_a_body_beyond_the_limit_is_refused_in_json(client: httpx.AsyncClient) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b" " * 1024 * 1024

    answer = await client.post("/v1/chat/completions", content=body())
    assert answer.status_code == 413
    assert answer.json()["error"] == "request too large"


async def test_a_fault_of_our_own_is_answered_in_json_and_frees_the_bridge(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken_sync() -> None:
        raise RuntimeError("private detail")

    monkeypatch.setattr(main, "run_git_sync", broken_sync)
    answer = await ask(client, "hello")
    assert answer.status_code == 500
    assert answer.json()["error"] == "internal error"
    assert "private detail" not in answer.text
    await idle(client)


@pytest.fixture
def world(tmp_path: Path, workspace: Path) -> World:
    """The workspace is a clone whose upstream has news."""
    world = make_world(tmp_path)
    assert world.workspace == workspace
    world.push("story", "new")
    return world


async def story(client: httpx.AsyncClient) -> tuple[str, str]:
    """What the CLI finds in the workspace, and what the answer says about the sync."""
    answer = await ask(client, "story")
    return text_of(answer), answer.json()["hermes"]["git_sync"]


async def test_the_cli_works_on_what_upstream_has(world: World, client: httpx.AsyncClient) -> None:
    assert await story(client) == ("new", "fast-forwarded")
    assert await story(client) == ("new", "up to date")


async def test_local_changes_survive_and_the_answer_says_so(
    world: World, client: httpx.AsyncClient
) -> None:
    (world.workspace / "story").write_text("draft")
    assert await story(client) == ("draft", "dirty")


async def test_local_commits_survive_and_the_answer_says_so(
    world: World, client: httpx.AsyncClient
) -> None:
    commit(world.workspace, "story", "mine")
    assert await story(client) == ("mine", "diverged")


async def test_an_unreachable_upstream_does_not_stop_the_run(
    world: World, client: httpx.AsyncClient
) -> None:
    world.upstream.rename(world.upstream.with_name("gone.git"))
    assert await story(client) == ("once", "unreachable")


async def test_the_documented_command_serves_the_bridge(workspace: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "uvicorn", "app.main:app", "--port", "0"),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            url = await announced_url(process.stderr)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as client:
            asking = asyncio.ensure_future(ask(client, "slow"))
            pids = await announced(workspace / "pids")
            asking.cancel()
            await ended(pids)
            await idle(client)
            assert text_of(await ask(client, "hello")) == "You said 5 characters."
    finally:
        process.terminate()
        await asyncio.wait_for(process.communicate(), WAIT_SECONDS)


async def announced_url(log: asyncio.StreamReader) -> str:
    async for line in log:
        if found := re.search(rb"http://[\d.:]+", line):
            return found.group().decode()
    raise AssertionError("uvicorn ended before it served")


def test_without_starlette_the_import_says_what_to_install() -> None:
    script = "import sys; sys.modules['starlette.applications'] = None; import app.main"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'hermes-gateway[bridge]'" in done.stderr.splitlines()[-1]


def test_the_door_shows_the_names_the_contract_patches() -> None:
    names: dict[str, Any] = vars(main)
    assert names["asyncio"] is asyncio
    assert isinstance(names["execution_lock"], asyncio.Lock)
    assert inspect.iscoroutinefunction(names["run_git_sync"])
