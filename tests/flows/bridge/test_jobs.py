"""Jobs of the bridge over HTTP: begun, asked for, ended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.flows.bridge.server import ask, idle, settled
from tests.unit.backends.processes import announced, ended


async def begin(client: httpx.AsyncClient, prompt: str, **fields: object) -> str:
    answer = await client.post("/execute", json={"prompt": prompt, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


async def test_a_job_runs_on_and_can_be_asked_for(client: httpx.AsyncClient) -> None:
    job = await settled(client, await begin(client, "hello", metadata={"ticket": 7}))
    assert job["status"] == "completed"
    assert job["result"] == "You said 5 characters."
    assert job["metadata"] == {"ticket": 7}
    assert job["usage"]["total_tokens"] == 48
    assert job["cost_usd"] == 0.002
    assert job["git_sync"] == "not a repository"
    assert len(job["output"]) == 2


@pytest.mark.parametrize("wish", ["slow", "apart"])
async def test_a_job_that_takes_too_long_is_ended_with_all_it_started(
    client: httpx.AsyncClient, workspace: Path, wish: str
) -> None:
    job_id = await begin(client, wish, timeout_seconds=2)
    pids = await announced(workspace / "pids")
    job = await settled(client, job_id)
    assert job["status"] == "timeout"
    assert "raise EXECUTE_TIMEOUT_SECONDS" in job["error"]
    await ended(pids)
    await idle(client)


async def test_who_asks_for_a_job_leaves_it_running_when_gone(
    client: httpx.AsyncClient, workspace: Path
) -> None:
    job_id = await begin(client, "breaks")
    while not (workspace / "spoken").exists():
        await asyncio.sleep(0.01)
    assert (await client.get(f"/jobs/{job_id}")).json()["status"] == "running"
    busy = await ask(client, "hello")
    assert busy.status_code == 503
    (workspace / "go").touch()
    job = await settled(client, job_id)
    assert (job["status"], job["error"]) == ("failed", "API Error: 529 overloaded")
    await idle(client)


async def test_jobs_are_only_for_those_who_know_the_token(client: httpx.AsyncClient) -> None:
    job_id = await begin(client, "hello")
    await settled(client, job_id)
    wrong = {"Authorization": "Bearer wrong"}
    for method, path in (("POST", "/execute"), ("GET", f"/jobs/{job_id}"), ("GET", "/jobs/x")):
        assert (await client.request(method, path, headers=wrong)).status_code == 401


async def test_an_unknown_job_is_not_found(client: httpx.AsyncClient) -> None:
    answer = await client.get("/jobs/job_1")
    assert answer.status_code == 404
    assert answer.json()["error"] == "job not found"


async def test_a_job_without_a_prompt_is_refused_flatly(client: httpx.AsyncClient) -> None:
    answer = await client.post("/execute", json={"agent": "x"})
    assert answer.status_code == 400
    assert answer.json() == {
        "error": "invalid request",
        "detail": "prompt must be a text that says what to do",
        "param": "prompt",
    }
