"""The agent as an MCP server, asked by the official client: over HTTP and over pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from hermes.settings.home_lock import announced_url
from hermes.settings.paths import lock_file
from hermes.testing.replies import Reply, Text, ToolUse
from tests.flows.conftest import KEY, Flow, StartFlow, eventually
from tests.flows.run_client import STALLED
from tests.unit.mcp.serving import is_alive

OTHER = "another-key-0123456789"
HERMES = str(Path(sys.executable).with_name("hermes"))
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def client_of(served: Flow, mode: str = "legacy", key: str = KEY) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(
            streamable_http_client(f"{served.gateway.url}/mcp", http_client=http), mode=mode
        ) as client,
    ):
        yield client


def data_of(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None
    return dict(result.structured_content)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


async def statuses(served: Flow) -> list[str]:
    _, listed = await served.answer("GET", "/v1/runs")
    return [run["status"] for run in listed["data"]]


# --- over HTTP ------------------------------------------------------------------------------


@MODES
async def test_a_client_of_any_age_has_a_task_done_and_sees_how(flow: StartFlow, mode: str) -> None:
    script: list[Reply] = [ToolUse("terminal", {"command": "echo hi"}), Text("All done.")]
    served = await flow(script)
    seen: list[str | None] = []

    async def note(_progress: float, _total: float | None, message: str | None) -> None:
        seen.append(message)

    async with client_of(served, mode) as client:
        tools = await client.list_tools()
        result = await client.call_tool("run", {"message": "Do it"}, progress_callback=note)  # type: ignore[arg-type]
        shown = await client.call_tool("status", {"run_id": data_of(result)["run_id"]})

    assert [tool.name for tool in tools.tools] == ["run", "status", "approve", "sessions"]
    assert (text_of(result), result.is_error) == ("All done.", False)
    assert seen == ["terminal: echo hi"]
    assert data_of(shown) == data_of(result)
    assert data_of(result)["status"] == "completed"


async def test_a_session_is_continued_listed_searched_and_read(flow: StartFlow) -> None:
    served = await flow([Text("The moon is made of basalt."), Text("As I said.")])
    async with client_of(served) as client:
        first = await client.call_tool("run", {"message": "What is the moon made of?"})
        session_id = data_of(first)["session_id"]
        await client.call_tool("run", {"message": "Sure?", "session_id": session_id})
        listed = data_of(await client.call_tool("sessions", {}))
        found = data_of(await client.call_tool("sessions", {"query": "basalt"}))
        read = data_of(await client.call_tool("sessions", {"session_id": session_id, "limit": 2}))

    assert "basalt" in str(served.requests[1].messages)
    assert [each["id"] for each in listed["data"]] == [session_id]
    assert [each["session_id"] for each in found["data"]] == [session_id]
    assert [each["content"] for each in read["data"]] == ["As I said.", "Sure?"]
    assert read["has_more"]


@MODES
async def test_cancelling_a_call_stops_the_run(flow: StartFlow, mode: str) -> None:
    served = await flow([STALLED])
    async with client_of(served, mode) as client:
        asked = asyncio.create_task(client.call_tool("run", {"message": "Never mind"}))
        await eventually(lambda: len(served.requests) == 1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        async with asyncio.timeout(10):
            while await statuses(served) != ["cancelled"]:
                await asyncio.sleep(0.02)


async def test_a_run_that_must_ask_goes_on_after_the_decision(flow: StartFlow) -> None:
    script: list[Reply] = [ToolUse("terminal", {"command": "rm -r build"}), Text("It is gone.")]
    served = await flow(script)
    async with client_of(served) as client:
        asked = await client.call_tool("run", {"message": "Tidy up"})
        run_id = data_of(asked)["run_id"]
        wrong = await client.call_tool("approve", {"run_id": run_id, "decision": "perhaps"})
        decided = await client.call_tool("approve", {"run_id": run_id, "decision": "once"})
        again = await client.call_tool("approve", {"run_id": run_id, "decision": "once"})

    assert data_of(asked)["status"] == "waiting_for_approval"
    assert "rm -r build" in text_of(asked)
    assert wrong.is_error
    assert text_of(decided) == "It is gone."
    assert data_of(again) == {"code": "no_approval_pending"}


async def test_what_cannot_be_done_is_an_error_that_says_why(flow: StartFlow) -> None:
    served = await flow([])
    async with client_of(served) as client:
        empty = await client.call_tool("run", {})
        unknown = await client.call_tool("status", {"run_id": "run_none"})
        nowhere = await client.call_tool("sessions", {"session_id": "none"})
        with pytest.raises(MCPError, match="There is no such tool"):
            await client.call_tool("fly", {})

    assert "message" in text_of(empty)
    assert data_of(unknown) == {"code": "run_not_found"}
    assert data_of(nowhere) == {"code": "session_not_found"}
    assert empty.is_error
    assert unknown.is_error
    assert nowhere.is_error


async def test_runs_and_sessions_of_the_protocol_belong_to_the_key_that_began_them(
    flow: StartFlow,
) -> None:
    served = await flow([Text("Mine.")], keys={"other": {"key": OTHER}})
    async with client_of(served) as client, client_of(served, key=OTHER) as stranger:
        run_id = data_of(await client.call_tool("run", {"message": "Hello"}))["run_id"]
        seen = await stranger.call_tool("status", {"run_id": run_id})
    begun = await served.http.post(f"{served.gateway.url}/mcp", json=INITIALIZE, headers=ACCEPT)
    session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], **ACCEPT}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    stolen = {**session, "Authorization": f"Bearer {OTHER}"}

    assert data_of(seen) == {"code": "run_not_found"}
    assert (await served.answer("POST", "/mcp", json=listing, headers=stolen))[0] == 404
    assert await served.text("/mcp", listing, headers=session)


ACCEPT = {"Accept": "application/json, text/event-stream"}


async def test_a_wrong_key_and_a_foreign_page_are_refused_like_everywhere(flow: StartFlow) -> None:
    served = await flow([])
    wrong = {"Authorization": "Bearer wrong", **ACCEPT}
    page = {"Origin": "https://evil.example", **ACCEPT}
    status, refused = await served.answer("POST", "/mcp", json=INITIALIZE, headers=wrong)
    foreign, answer = await served.answer("POST", "/mcp", json=INITIALIZE, headers=page)

    assert (status, refused["error"]["code"]) == (401, "invalid_api_key")
    assert (foreign, answer["error"]["code"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'{"jsonrpc": "2.0"}', b'{"id": {}}', b"[" * 10_000]
)
async def test_nonsense_is_refused_and_nobody_else_notices(flow: StartFlow, body: bytes) -> None:
    served = await flow([])
    headers = {**ACCEPT, "Content-Type": "application/json"}
    for method in ("POST", "GET", "DELETE"):
        async with served.http.request(
            method, f"{served.gateway.url}/mcp", data=body, headers=headers
        ) as answer:
            assert 400 <= answer.status < 500
            assert "error" in await answer.json()
    async with client_of(served) as client:
        assert (await client.list_tools()).tools


async def test_without_the_sdk_the_route_says_what_to_install(
    flow: StartFlow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.mcp.sdk.is_installed", lambda: False)
    served = await flow([])
    status, refused = await served.answer("POST", "/mcp", json=INITIALIZE)

    assert (status, refused["error"]["code"]) == (503, "mcp_unavailable")
    assert "pip install 'hermes-gateway[mcp]'" in refused["error"]["message"]


async def test_a_client_that_listens_does_not_delay_the_end_of_the_gateway(
    flow: StartFlow,
) -> None:
    served = await flow([])
    begun = await served.http.post(f"{served.gateway.url}/mcp", json=INITIALIZE, headers=ACCEPT)
    session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "Accept": "text/event-stream"}
    async with served.http.get(f"{served.gateway.url}/mcp", headers=session) as stream:
        assert stream.status == 200
        async with asyncio.timeout(0.9):  # the gateway waits a second for streams that stay open
            await served.gateway.close()


# --- as a process ---------------------------------------------------------------------------


def process(home: Path, *arguments: str, **environment: str) -> StdioServerParameters:
    variables = {"HERMES_HOME": str(home), **environment}
    return StdioServerParameters(command=HERMES, args=["mcp", *arguments], env=variables)


async def test_a_process_on_pipes_answers_and_a_second_one_speaks_for_the_same_agent(
    tmp_path: Path,
) -> None:
    async with Client(process(tmp_path)) as client:
        result = await client.call_tool("run", {"message": "What files are there?"})
        async with Client(process(tmp_path)) as second:
            listed = data_of(await second.call_tool("sessions", {}))

    assert not result.is_error
    assert "README.md" in text_of(result)
    assert [each["id"] for each in listed["data"]] == [data_of(result)["session_id"]]


async def test_a_process_speaks_for_a_gateway_elsewhere(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([Text("From afar.")])
    url = ("--url", served.gateway.url)
    async with Client(process(tmp_path / "empty", *url, API_SERVER_KEY=KEY)) as client:
        result = await client.call_tool("run", {"message": "Hello"})

    assert text_of(result) == "From afar."


@pytest.mark.parametrize("how", ["the client leaves", "a signal"])
async def test_a_process_ends_with_its_client_or_at_a_signal(tmp_path: Path, how: str) -> None:
    running = await asyncio.create_subprocess_exec(
        HERMES,
        "mcp",
        env={**os.environ, "HERMES_HOME": str(tmp_path)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert running.stdin is not None
    await eventually(lambda: bool(announced_url(lock_file(tmp_path))), within=40)
    if how == "a signal":
        running.send_signal(signal.SIGTERM)
    else:
        running.stdin.close()
    async with asyncio.timeout(20):
        out, err = await running.communicate()

    assert (running.returncode, out, err) == (0, b"", b"")
    assert not is_alive(running.pid)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url", "http://127.0.0.1:9"], b"No gateway answers at http://127.0.0.1:9"),
        (["--url", "GATEWAY"], b"refuses the key; set API_SERVER_KEY"),
    ],
)
async def test_a_process_that_cannot_speak_for_anybody_says_why(
    flow: StartFlow, tmp_path: Path, arguments: list[str], words: bytes
) -> None:
    served = await flow([])
    given = [each.replace("GATEWAY", served.gateway.url) for each in arguments]
    running = await asyncio.create_subprocess_exec(
        HERMES,
        "mcp",
        *given,
        env={**os.environ, "HERMES_HOME": str(tmp_path / "empty")},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(20):
        out, err = await running.communicate()

    assert running.returncode == 1
    assert out == b""
    assert words in err
    assert b"Traceback" not in err


async def test_refusals_that_the_protocol_has_no_words_for_are_in_the_envelope(
    flow: StartFlow,
) -> None:
    served = await flow([])
    headers = {"Mcp-Protocol-Version": ""}
    for method in ("GET", "DELETE"):
        status, refusal = await served.answer(method, "/mcp", headers=headers)
        assert (status, refusal["error"]["code"]) == (405, "method_not_allowed")
    typed = {"Content-Type": "nonsense", "Accept": "application/json, text/event-stream"}
    status, refusal = await served.answer("POST", "/mcp", data=b"{}", headers=typed)
    assert status == 400
    assert refusal["error"]["message"]
