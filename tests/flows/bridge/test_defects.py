"""What a bridge like this one gets wrong easily, each as a test that it does not.

Such services exist; these are faults that were found in them, in the order they were found.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from app import main
from hermes.backends.bridge.execute import parse_execute
from hermes.backends.bridge.jobs import Jobs
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.records import JobStatus
from hermes.backends.bridge.running import Listener
from hermes.backends.bridge.settings import read_settings
from hermes.backends.bridge.turns import Turns
from tests.flows.bridge.server import TOKEN, ask, idle, settled, text_of
from tests.unit.backends.processes import announced, ended


async def test_1_a_timeout_ends_the_process_and_the_job(
    client: httpx.AsyncClient, workspace: Path
) -> None:
    begun = await client.post("/execute", json={"prompt": "slow", "timeout_seconds": 2})
    job = await settled(client, begun.json()["job_id"])
    assert job["status"] == "timeout"
    await ended(await announced(workspace / "pids"))


async def test_2_a_job_that_dies_before_its_first_step_gives_its_place_back() -> None:
    turns, lock, jobs = Turns(), asyncio.Lock(), Jobs()
    ticket = await turns.take(lock, capacity=1, depth=0)

    async def never(job_id: str, listener: Listener) -> Outcome:
        raise AssertionError("it was cancelled before it could begin")

    request = parse_execute(b'{"prompt": "hi"}', read_settings({"HOME": "/nowhere"}))
    job = jobs.begin(request, ticket, never, queue_seconds=1)
    await jobs.close()
    assert job.status is JobStatus.ERROR
    assert turns.active == 0
    assert not lock.locked()


async def test_3_an_answer_of_any_length_is_one_line_and_arrives(
    client: httpx.AsyncClient,
) -> None:
    assert text_of(await ask(client, "huge")) == "x" * 1_000_000


async def test_4_much_noise_on_stderr_stops_nothing(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "noise")) == "heard through the noise"


async def test_5_bytes_that_are_no_text_break_nothing(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "bytes")) == "still here"
    begun = await client.post("/execute", json={"prompt": "bytes"})
    job = await settled(client, begun.json()["job_id"])
    assert job["status"] == "completed"
    assert "caf\N{REPLACEMENT CHARACTER}" in job["output"]
    assert job["stderr"] == "caf\N{REPLACEMENT CHARACTER}\n"


async def test_6_the_cli_reads_nothing_of_the_servers_input(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "stdin")) == "''"


async def test_7_a_prompt_longer_than_any_argument_arrives(client: httpx.AsyncClient) -> None:
    assert text_of(await ask(client, "x" * 300_000)) == "You said 300000 characters."


async def test_8_tokens_cost_and_session_are_told(client: httpx.AsyncClient) -> None:
    told = (await ask(client, "hello")).json()
    assert told["usage"]["total_tokens"] == 48
    assert told["hermes"]["cost_usd"] == 0.002
    assert told["hermes"]["session_id"] == "s-1"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/execute"])
async def test_9_strangers_learn_nothing_of_what_a_body_should_be(
    client: httpx.AsyncClient, path: str
) -> None:
    stranger = {"Authorization": "Bearer wrong"}
    answers = [
        await client.post(path, content=content, headers=stranger)
        for content in (b"", b"{nonsense", b'{"messages": []}', b'{"prompt": 7}')
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1


async def test_10_a_prompt_is_never_a_flag(client: httpx.AsyncClient) -> None:
    given = json.loads(text_of(await ask(client, "--version arguments")))
    assert given[-2:] == ["--", "--version arguments"]
    begun = await client.post("/execute", json={"prompt": "hi", "agent": "--version"})
    assert begun.status_code == 400


@pytest.mark.parametrize("wish", ["cut", "denies"])
async def test_11_an_error_with_exit_code_0_is_no_answer(
    client: httpx.AsyncClient, wish: str
) -> None:
    assert (await ask(client, wish)).status_code == 503
    begun = await client.post("/execute", json={"prompt": wish})
    job = await settled(client, begun.json()["job_id"])
    assert (job["status"], job["exit_code"]) == ("failed", 0)


async def test_12_the_cli_knows_no_secret_of_the_servers(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2-hunter2")
    seen = text_of(await ask(client, "env"))
    assert TOKEN not in seen
    assert "hunter2" not in seen


async def test_and_an_empty_token_lets_nobody_in(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "API_TOKEN", "")
    for header in (b"Bearer", b"", TOKEN.encode(), f"Bearer {TOKEN}".encode(), b"Bearer p\xe4ss"):
        request = client.build_request("GET", "/v1/models")
        request.headers = httpx.Headers([(b"host", b"bridge"), (b"authorization", header)])
        assert (await client.send(request)).status_code == 401


async def test_and_nothing_is_left_of_runs_that_are_over(
    client: httpx.AsyncClient, home: Path
) -> None:
    assert text_of(await ask(client, "hello"))
    assert (await ask(client, "exit")).status_code == 503
    await idle(client)
    assert [path for path in (home / "bridge").rglob("*") if path.name.startswith("job_")] == []
