"""Tools of real MCP servers in a real gateway: over pipes and over HTTP, used by a turn."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from hermes.settings.mcp_settings import McpServerSettings, McpSettings
from hermes.testing.replies import Reply, Text, ToolUse
from tests.flows.conftest import Flow, StartFlow, eventually
from tests.flows.run_client import begin, ended, events, in_state
from tests.unit.mcp.serving import HERE, is_alive, plain, real


def servers(*settings: McpServerSettings) -> McpSettings:
    return McpSettings(servers=settings)


async def are_connected(served: Flow, *names: str) -> None:
    states = served.gateway.adapter.seams.remote_servers

    def is_so() -> bool:
        found = {state.name: state.status.value for state in states()}
        return all(found.get(name) == "connected" for name in names)

    await eventually(is_so, within=20)


async def tool_output(served: Flow, **body: Any) -> str:
    """What the only tool call of a run answered."""
    run = await ended(served, (await begin(served, **body))["id"])
    told = await events(served, run["id"])
    (output,) = [each["output"] for each in told if each["type"] == "tool.finished"]
    return str(output)


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@asynccontextmanager
async def over_http(port: int) -> AsyncIterator[None]:
    """The real server on this port, until the end of the block."""
    script = str(HERE / "real_server.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, "http", str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(20):
            await _answers(port)
        yield
    finally:
        process.kill()
        await process.wait()


async def _answers(port: int) -> None:
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)


async def test_a_turn_uses_a_tool_of_a_server_over_pipes(flow: StartFlow) -> None:
    script: list[Reply] = [ToolUse("mcp_real_echo", {"text": "from afar"}), Text("Done.")]
    served = await flow(script, mcp=servers(real("real")))
    await are_connected(served, "real")
    output = await tool_output(served)

    assert output == "from afar"
    offered = {
        each["function"]["name"]: each["function"] for each in served.requests[0].body["tools"]
    }
    assert offered["mcp_real_echo"]["description"] == "Say it again."
    assert offered["mcp_real_echo"]["parameters"]["required"] == ["text"]


async def test_a_turn_uses_a_tool_over_http_also_after_the_server_was_restarted(
    flow: StartFlow,
) -> None:
    port = free_port()
    echo = ToolUse("mcp_far_echo", {"text": "hello"})
    script: list[Reply] = [echo, Text("Done."), echo, Text("Done.")]
    far = McpServerSettings(name="far", url=f"http://127.0.0.1:{port}/mcp")
    async with over_http(port):
        served = await flow(script, mcp=servers(far))
        await are_connected(served, "far")
        assert await tool_output(served) == "hello"
    async with over_http(port):
        assert await tool_output(served) == "hello"


async def test_a_destructive_tool_is_asked_about_and_then_runs(flow: StartFlow) -> None:
    script: list[Reply] = [ToolUse("mcp_real_wipe", {"name": "disk"}), Text("Wiped.")]
    served = await flow(script, mcp=servers(real("real")))
    await are_connected(served, "real")
    run = await in_state(served, (await begin(served))["id"], "waiting_for_approval")
    (asked,) = run["approvals"]
    decision = {"decision": "once"}
    await served.answer("POST", f"/v1/runs/{run['id']}/approval", json=decision)
    run = await ended(served, run["id"])

    assert asked["tool"] == "mcp_real_wipe"
    assert asked["reason"] == "may destroy something, as its MCP server says"
    assert "wiped disk" in str(served.requests[-1].messages[-1])
    assert run["status"] == "completed"


async def test_a_server_sees_no_secret_but_those_that_are_meant_for_it(
    flow: StartFlow, monkeypatch: Any
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    names = ("OPENAI_API_KEY", "MEANT_TOKEN")
    script = [
        reply
        for name in names
        for reply in (ToolUse("mcp_real_environment", {"name": name}), Text("Read."))
    ]
    served = await flow(script, mcp=servers(real("real", env={"MEANT_TOKEN": "meant"})))
    await are_connected(served, "real")

    assert [await tool_output(served) for _ in names] == ["(unset)", "meant"]


async def test_a_stopped_run_stops_the_call_and_progress_is_shown(
    flow: StartFlow, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    script: list[Reply] = [ToolUse("mcp_real_work", {"notes": str(notes)}), Text("Never.")]
    served = await flow(script, mcp=servers(real("real")))
    await are_connected(served, "real")
    run = await begin(served)
    log = await served.gateway.adapter.seams.runs.in_store(lambda store: store)
    async with asyncio.timeout(10):
        while not any("begun" in str(each.event) for each in log.read(run["id"])):
            await asyncio.sleep(0.02)
    await served.answer("POST", f"/v1/runs/{run['id']}/stop")
    await eventually(notes.exists)

    assert (await ended(served, run["id"]))["status"] == "cancelled"


async def test_an_unhealthy_server_keeps_neither_the_start_nor_a_turn_from_working(
    flow: StartFlow,
) -> None:
    served = await flow(
        [Text("Hello.")],
        mcp=servers(
            McpServerSettings(name="missing", command="/no/such/command"),
            plain("deaf", "deaf", connect_timeout_seconds=60),
            plain("off", enabled=False),
            plain("good", "tools=look"),
        ),
    )
    run = await ended(served, (await begin(served))["id"])
    await are_connected(served, "good")
    _, listed = await served.answer("GET", "/v1/toolsets")
    _, health = await served.answer("GET", "/health/detailed")
    sets = {each["id"]: each for each in listed["data"] if each["id"].startswith("mcp:")}

    assert run["status"] == "completed"
    assert {name: each["status"] for name, each in sets.items()} == {
        "mcp:missing": "unreachable",
        "mcp:deaf": "connecting",
        "mcp:off": "disabled",
        "mcp:good": "connected",
    }
    assert all(each["enabled"] for each in sets.values())
    assert [tool["name"] for tool in sets["mcp:good"]["tools"]] == ["mcp_good_look"]
    assert "/no/such/command" in sets["mcp:missing"]["problem"]
    assert {"name": "good", "status": "connected", "tools": 1} in health["mcp_servers"]
    assert "/no/such" not in str(health)


async def test_no_process_of_a_server_outlives_the_gateway(flow: StartFlow) -> None:
    script: list[Reply] = [ToolUse("mcp_one_echo"), Text("Done.")]
    served = await flow(script, mcp=servers(plain("one")))
    await are_connected(served, "one")
    pid = int((await tool_output(served)).partition('"pid": ')[2].partition(",")[0])
    assert is_alive(pid)
    await served.gateway.close()

    assert not is_alive(pid)
