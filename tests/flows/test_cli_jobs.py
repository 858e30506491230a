"""The jobs of CLI agents: stopped, in line, warm, and nothing of them left."""

from __future__ import annotations

from pathlib import Path

from hermes.core.cli_agents import Profile
from tests.flows.conftest import StartFlow, eventually
from tests.flows.hosted import (
    MODEL,
    chat,
    hosting,
    nothing_is_left,
    processes_of_jobs,
    text_of,
)
from tests.flows.run_client import RUNS, begin, ended, until


class TestStopping:
    async def test_a_client_that_leaves_takes_every_process_along(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        body = {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "[child]"}],
        }
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            await until(got, "moment")
            assert len(processes_of_jobs(tmp_path / "home")) >= 2
        await nothing_is_left(tmp_path / "home")

    async def test_a_run_that_is_stopped_is_cancelled_with_what_it_said(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        run = await begin(served, input="[slow]", model=MODEL)
        async with served.http.get(f"{served.gateway.url}{RUNS}/{run['id']}/events") as got:
            await until(got, "word3")
            await served.answer("POST", f"{RUNS}/{run['id']}/stop")
        run = await ended(served, run["id"])

        assert run["status"] == "cancelled"
        await nothing_is_left(tmp_path / "home")

    async def test_a_gateway_that_closes_ends_its_jobs(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        run = await begin(served, input="[child]", model=MODEL)
        await eventually(lambda: len(processes_of_jobs(tmp_path / "home")) >= 2)
        await served.gateway.close()

        assert run["id"] and processes_of_jobs(tmp_path / "home") == []


class TestCapacity:
    async def test_one_too_many_is_refused_and_nothing_is_stored(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"max_running": 1, "max_queued": 0})
        run = await begin(served, input="[hang]", model=MODEL)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")))
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            refused = await got.json()
            assert got.status == 429
            assert int(got.headers["Retry-After"]) >= 1
        await served.answer("POST", f"{RUNS}/{run['id']}/stop")

        assert refused["error"]["code"] == "cli_queue_full"

    async def test_whoever_waits_is_told_the_place_and_comes_next(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"max_running": 1})
        first = await begin(served, input="[hang]", model=MODEL)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")))
        second = await begin(served, input="Hi", model=MODEL)
        async with served.http.get(f"{served.gateway.url}{RUNS}/{second['id']}/events") as got:
            await until(got, "number 1 in line")
        _, health = await served.answer("GET", "/health/detailed")
        await served.answer("POST", f"{RUNS}/{first['id']}/stop")
        done = await ended(served, second["id"])

        assert health["cli_agents"] == [
            {"name": "claude", "running": 1, "queued": 1, "max_running": 2}
        ]
        assert done["output"] == "echo: Hi"

    async def test_a_warm_process_answers_and_is_replaced(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, warm=1, models=("haiku",), profile=Profile.CHAT)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")), within=10)
        waiting = processes_of_jobs(tmp_path / "home")
        _, answer = await chat(served, "Hi")

        assert text_of(answer) == "echo: Hi"
        await eventually(
            lambda: (
                bool(processes_of_jobs(tmp_path / "home"))
                and processes_of_jobs(tmp_path / "home") != waiting
            ),
            within=10,
        )
