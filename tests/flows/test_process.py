"""The gateway as a process: started by `hermes serve`, asked to stop, killed, started again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Broken, Text, ToolUse
from hermes.testing.scripted import EchoModel, Model, ScriptedModel
from hermes.testing.sse import parse_events
from tests.flows.conftest import eventually

GATEWAY_KEY = "gateway-key-abcdef123456"
PROVIDER_KEY = "provider-key-abcdef123456"
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]

START_SECONDS = 20.0
STOP_SECONDS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A gateway process that answers, and how to ask it."""

    process: asyncio.subprocess.Process
    banner: str
    log: Path
    http: aiohttp.ClientSession
    sdk: openai.AsyncOpenAI

    @property
    def url(self) -> str:
        return re.findall(r"Base URL: +(http\S+)/v1\n", self.banner)[0]

    async def answer(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        async with self.http.request(method, self.url + path, **options) as response:
            return response.status, await response.json()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), STOP_SECONDS)


def environment(home: Path, **more: str) -> dict[str, str]:
    """All the process gets to see of the outside."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "HERMES_HOME": str(home),
        "API_SERVER_PORT": "0",
        "API_SERVER_KEY": GATEWAY_KEY,
        **more,
    }


async def start(home: Path, log: Path, *arguments: str, **env: str) -> asyncio.subprocess.Process:
    with log.open("ab") as file:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hermes_cli.main", "serve", *arguments),
            env=environment(home, **env),
            cwd=home.parent,
            stdout=asyncio.subprocess.PIPE,
            stderr=file,
        )


async def refused(home: Path, *arguments: str, **env: str) -> str:
    """What a process that does not start says; it must end with exit code 1."""
    log = home.parent / "refused.log"
    process = await start(home, log, *arguments, **env)
    try:
        assert await asyncio.wait_for(process.wait(), START_SECONDS) == 1
    finally:
        _end(process)
    return log.read_text()


@asynccontextmanager
async def serving(
    home: Path, provider: FakeProvider | None = None, *arguments: str, **env: str
) -> AsyncIterator[Served]:
    if provider is not None:
        env = {
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_API_KEY": PROVIDER_KEY,
            "HERMES_MODEL": "the-model",
            **env,
        }
    log = home.parent / "gateway.log"
    process = await start(home, log, *arguments, **env)
    try:
        banner = await _banner(process, log)
        base_url = re.findall(r"Base URL: +(\S+)", banner)[0]
        headers = {"Authorization": f"Bearer {GATEWAY_KEY}"}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            openai.AsyncOpenAI(base_url=base_url, api_key=GATEWAY_KEY, max_retries=0) as sdk,
        ):
            yield Served(process=process, banner=banner, log=log, http=http, sdk=sdk)
    finally:
        _end(process)
        await process.wait()


async def _banner(process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    lines = b""
    async with asyncio.timeout(START_SECONDS):
        while not lines.endswith(b"\n\n") or b"curl" not in lines:
            line = await process.stdout.readline()
            assert line, log.read_text()
            lines += line
    return lines.decode()


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()


def status_of(home: Path) -> dict[str, Any]:
    return dict(json.loads((home / "gateway_state.json").read_text()))


def configure(home: Path, text: str) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(text)
    (home / "config.yaml").chmod(0o600)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


# --- starting -------------------------------------------------------------------------------------


async def test_environment_variables_are_enough_to_serve_a_provider(home: Path) -> None:
    model = ScriptedModel([ToolUse("terminal", {"command": "env"}), Text("Done.")])
    async with FakeProvider(model) as provider, serving(home, provider) as served:
        answer = await served.sdk.chat.completions.create(model="any", messages=HELLO)
        status, health = await served.answer("GET", "/health/detailed")

    assert answer.choices[0].message.content == "Done."
    assert model.requests[0].model == "the-model"
    assert model.requests[0].headers["Authorization"] == f"Bearer {PROVIDER_KEY}"
    # What the terminal printed goes back to the model: no secret may be in it.
    assert "PATH=" in model.requests[1].messages[-1]["content"]
    assert GATEWAY_KEY not in str(model.requests[1].body)
    assert PROVIDER_KEY not in str(model.requests[1].body)
    assert (status, health["gateway_state"], health["pid"]) == (200, "running", served.process.pid)


async def test_the_banner_says_what_the_first_request_needs(home: Path) -> None:
    async with FakeProvider(EchoModel()) as provider, serving(home, provider) as served:
        banner = served.banner

    assert re.search(r"Base URL: +http://127\.0\.0\.1:\d+/v1\n", banner)
    assert re.search(r"Key: +required\n", banner)
    assert f"hermes-agent (the-model at {provider.base_url})" in banner
    assert "curl -N http://127.0.0.1:" in banner
    assert GATEWAY_KEY not in banner
    assert PROVIDER_KEY not in banner


async def test_without_any_configuration_the_demo_model_answers_and_says_so(home: Path) -> None:
    async with serving(home, API_SERVER_KEY="") as served:
        stream = await served.sdk.chat.completions.create(
            model="any",
            messages=[{"role": "user", "content": "What files are there?"}],
            stream=True,
        )
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert "demo model" in served.banner
    assert re.search(r"Key: +not required\n", served.banner)
    assert "notes.txt" in text


async def test_a_second_process_on_the_same_home_is_refused(home: Path) -> None:
    async with serving(home) as served:
        said = await refused(home)
        status, _ = await served.answer("GET", "/health")

    assert f"already served by process {served.process.pid} at {served.url}" in said
    assert "HERMES_HOME" in said
    assert "Traceback" not in said
    assert status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
async def test_no_key_no_listening_beyond_this_machine(home: Path, host: str) -> None:
    said = await refused(home, "--host", host, API_SERVER_KEY="")

    assert host in said
    assert "API_SERVER_KEY" in said
    assert "Traceback" not in said


async def test_a_port_in_use_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = await refused(home, "--port", str(port))

    assert f"127.0.0.1:{port}" in said
    assert "in use" in said
    assert "Traceback" not in said
    assert status_of(home)["gateway_state"] == "stopped"


async def test_a_wrong_setting_is_named_with_what_is_allowed(home: Path) -> None:
    said = await refused(home, API_SERVER_PORT="eighty")

    assert "API_SERVER_PORT" in said
    assert "eighty" in said
    assert "Traceback" not in said


# --- stopping -------------------------------------------------------------------------------------


async def streamed_until(served: Served, text: bytes) -> aiohttp.ClientResponse:
    """A chat stream of which everything up to `text` has been read."""
    body = {"messages": HELLO, "stream": True}
    response = await served.http.post(served.url + "/v1/chat/completions", json=body)
    async with asyncio.timeout(10):
        while text not in await response.content.readline():
            pass
    return response


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stream_that_ends_in_time_is_served_to_its_end(
    home: Path, number: signal.Signals
) -> None:
    model = ScriptedModel([Text(pieces=["one ", "two ", "three"], interval=0.3)])
    async with FakeProvider(model) as provider, serving(home, provider) as served:
        response = await streamed_until(served, b"one ")
        exit_code, rest = await asyncio.gather(served.stop(number), response.text())

    events = parse_events(rest.lstrip("\n"))
    assert exit_code == 0
    assert "three" in rest
    assert json.loads(events[-2].data)["choices"][0]["finish_reason"] == "stop"
    assert events[-1].data == "[DONE]"
    assert status_of(home)["gateway_state"] == "stopped"


async def test_a_stream_that_takes_too_long_still_gets_its_terminal_event(home: Path) -> None:
    configure(home, "server:\n  drain_seconds: 0.2\n")
    model = ScriptedModel([Broken("Half an ans", how="stall")])
    async with FakeProvider(model) as provider, serving(home, provider) as served:
        response = await streamed_until(served, b" ans")
        exit_code, rest = await asyncio.gather(served.stop(), response.text())

    *_, last, done = parse_events(rest.lstrip("\n"))
    assert exit_code == 0
    assert json.loads(last.data)["choices"][0]["finish_reason"] == "length"
    assert json.loads(last.data)["hermes"]["error_code"] == "interrupted"
    assert done.data == "[DONE]"


async def test_the_second_signal_does_not_wait(home: Path) -> None:
    configure(home, "server:\n  drain_seconds: 60\n")
    model = ScriptedModel([Broken("Half an ans", how="stall")])
    async with FakeProvider(model) as provider, serving(home, provider) as served:
        response = await streamed_until(served, b" ans")
        served.process.send_signal(signal.SIGTERM)
        await eventually(lambda: status_of(home)["gateway_state"] == "draining")
        exit_code, rest = await asyncio.gather(served.stop(), response.text())

    assert exit_code == 0
    assert rest.endswith("data: [DONE]\n\n")


async def test_a_draining_gateway_takes_no_new_turn(home: Path) -> None:
    model = ScriptedModel([Text(pieces=["one ", "two ", "three"], interval=0.5)])
    async with FakeProvider(model) as provider, serving(home, provider) as served:
        response = await streamed_until(served, b"one ")
        served.process.send_signal(signal.SIGTERM)
        await eventually(lambda: status_of(home)["gateway_state"] == "draining")
        async with served.http.post(
            served.url + "/v1/chat/completions", json={"messages": HELLO}
        ) as refusal:
            code = (await refusal.json())["error"]["code"]
        await response.text()
        await asyncio.wait_for(served.process.wait(), STOP_SECONDS)

    assert (refusal.status, code) == (503, "draining")
    assert int(refusal.headers["Retry-After"]) > 0


async def test_an_idle_gateway_stops_at_once_and_can_be_started_again(home: Path) -> None:
    for _ in range(2):
        async with serving(home) as served:
            await served.answer("GET", "/health")
            async with asyncio.timeout(3):
                assert await served.stop() == 0


# --- dying ----------------------------------------------------------------------------------------


async def test_nothing_acknowledged_is_lost_when_the_process_is_killed(home: Path) -> None:
    async with FakeProvider(EchoModel()) as provider:
        async with serving(home, provider) as served:
            _, made = await served.answer("POST", "/api/sessions", json={"title": "kept"})
            session = f"/api/sessions/{made['session']['id']}"
            await served.answer("POST", f"{session}/chat", json={"message": "remember me"})
            _, response = await served.answer("POST", "/v1/responses", json={"input": "and me"})
            served.process.kill()
            await served.process.wait()
        async with serving(home, provider) as again:
            _, messages = await again.answer("GET", f"{session}/messages")
            status, found = await again.answer("GET", f"/v1/responses/{response['id']}")

    assert [message["content"] for message in messages["data"]] == ["remember me"] * 2
    assert (status, found) == (200, response)


async def test_finished_steps_of_a_turn_survive_a_kill_and_the_session_goes_on(
    home: Path,
) -> None:
    call = ToolUse("list_files", {"path": "."}, id="call_1")
    model = ScriptedModel([call, Broken(how="stall"), Text("Where were we?")])
    async with FakeProvider(model) as provider:
        async with serving(home, provider) as served:
            _, made = await served.answer("POST", "/api/sessions", json={})
            session = f"/api/sessions/{made['session']['id']}"
            asking = asyncio.create_task(
                served.answer("POST", f"{session}/chat", json={"message": "Look"})
            )
            await provider.wait_for_requests(2)
            served.process.kill()
            await asyncio.gather(asking, return_exceptions=True)
        async with serving(home, provider) as again:
            _, messages = await again.answer("GET", f"{session}/messages")
            status, _ = await again.answer("POST", f"{session}/chat", json={"message": "Go on"})

    assert [message["role"] for message in messages["data"]] == ["user", "assistant", "tool"]
    assert status == 200


# --- secrets --------------------------------------------------------------------------------------


async def test_no_secret_is_logged_and_every_file_is_private(home: Path) -> None:
    model: Model = ScriptedModel(
        [Text("Fine."), Broken("Half", how="reset"), Broken("Half", how="error_event")]
    )
    async with (
        FakeProvider(model) as provider,
        serving(home, provider, "--log-level", "debug") as served,
    ):
        for _ in range(3):
            await served.answer("POST", "/v1/responses", json={"input": "Hello"})
        await served.answer("GET", f"/v1/{GATEWAY_KEY}")
        await served.answer("POST", "/api/sessions", json={"title": "x"})
        files = [path for path in home.rglob("*") if "workspace" not in path.parts]
        modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in files}
        assert await served.stop() == 0

    said = served.log.read_text()
    assert "/v1/responses" in said
    assert GATEWAY_KEY not in said
    assert PROVIDER_KEY not in said
    assert modes["state.db"] == 0o600
    assert set(modes.values()) == {0o600}
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "workspace").stat().st_mode & 0o777 == 0o700
