"""The bridge as its users meet it: uvicorn on loopback, a process as CLI, real repositories."""

from __future__ import annotations

import asyncio
import inspect
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import uvicorn

from app import main
from tests.unit.backends.processes import WAIT_SECONDS, announced, ended
from tests.unit.backends.repositories import World, commit, make_world

TOKEN = "flow-token"

FAKE_CLAUDE = r"""
'''A stand-in for the CLI: the last word of its prompt says what to do.'''
import json, os, signal, subprocess, sys, time

args = sys.argv[1:]
prompt = args[args.index("--") + 1] if "--" in args else sys.stdin.read()
wish = prompt.split()[-1]


def say(**event):
    print(json.dumps(event), flush=True)


def announce(*pids):
    with open("pids.tmp", "w") as file:
        print(*pids, file=file)
    os.rename("pids.tmp", "pids")


say(type="system", subtype="init", session_id="s-1")
if wish == "fail":
    say(type="result", subtype="success", is_error=True, result="API Error: 529 overloaded")
    sys.exit(1)
elif wish == "exit":
    sys.exit("the disk is on fire")
elif wish == "cut":
    sys.stdout.write('{"type": "result", "result": "half of')
elif wish == "huge":
    say(type="result", is_error=False, result="x" * 1_000_000)
elif wish == "slow":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    announce(os.getpid(), child.pid)
    time.sleep(600)
elif wish == "env":
    say(type="result", is_error=False, result=json.dumps(dict(os.environ)))
elif wish == "story":
    say(type="result", is_error=False, result=open("story").read())
else:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 40, "output_tokens": 3}
    say(
        type="result", is_error=False, result=f"You said {len(prompt)} characters.",
        session_id="s-1", total_cost_usd=0.002, usage=usage,
    )
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings for a bridge in a folder of its own, with the stand-in for a CLI."""
    fake = tmp_path / "fake_claude.py"
    fake.write_text(FAKE_CLAUDE)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(fake))}"
    monkeypatch.setenv("API_BEARER_TOKEN", TOKEN)
    monkeypatch.setattr(main, "API_TOKEN", TOKEN)
    monkeypatch.setenv("CLAUDE_COMMAND", command)
    monkeypatch.setenv("WORKSPACE_DIR", str(tmp_path / "workspace"))
    for name in ("BRIDGE_TIMEOUT_SECONDS", "BRIDGE_STREAMING", "MAX_CONCURRENCY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "workspace"


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(main.app, log_config=None, loop="none", lifespan="off")
        server = uvicorn.Server(config)
        task = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, WAIT_SECONDS)


@pytest.fixture
async def client(workspace: Path) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        serving() as url,
        httpx.AsyncClient(base_url=url, headers=headers, timeout=WAIT_SECONDS) as client,
    ):
        yield client


async def ask(client: httpx.AsyncClient, wish: str) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": wish}]}
    return await client.post("/v1/chat/completions", json=body)


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


async def idle(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while (await client.get("/health")).json()["busy"]:
            await asyncio.sleep(0.01)


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
