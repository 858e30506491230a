"""Commands over the API: in the background over several turns, apart for every key, in the log."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.paths import default_workspace
from hermes.settings.tool_settings import ToolSettings
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.scripted import ModelRequest
from hermes.tools.sandbox import PROGRAM, problem_with
from tests.flows.conftest import Flow, StartFlow, eventually
from tests.flows.run_client import RUNS, as_other, begin, ended, events, in_state
from tests.unit.tools.processes import is_running, pids_in

OTHER = "another-key-0123456789"
FOREVER = "echo $$ > pids; echo ready; sleep 300"


def background(command: str = FOREVER) -> ToolUse:
    return ToolUse("terminal", {"command": command, "background": True})


class Agent:
    """A model that makes one call per turn and then says what came of it."""

    def __init__(self, *calls: ToolUse) -> None:
        self._calls = list(calls)

    def __call__(self, request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last["role"] == "tool":
            return Text(str(last["content"]))
        return self._calls.pop(0)


async def told(served: Flow, **body: Any) -> str:
    """What the tool of one turn said."""
    run = await begin(served, wait=20, **body)
    assert run["status"] == "completed", run
    return str(run["output"])


async def told_other(served: Flow, **body: Any) -> str:
    status, run = await served.answer(
        "POST", RUNS, json={"input": "Hi", "wait": 20, **body}, headers=as_other(OTHER)
    )
    assert status == 200, run
    return str(run["output"])


async def test_a_command_runs_on_into_the_next_turn_of_its_session_and_ends_with_the_gateway(
    flow: StartFlow, tmp_path: Path
) -> None:
    listing = ToolUse("process", {"action": "list"})
    served = await flow(Agent(background(), listing, listing))
    workspace = default_workspace(tmp_path)
    first = await told(served, session_id="s1")
    assert "ready\n[runs in the background: " in first
    assert ": running for" in await told(served, session_id="s1")
    assert "No processes in the background." in await told(served, session_id="s2")
    [pid] = pids_in(workspace)
    assert is_running(pid)

    await served.gateway.__aexit__(None, None, None)

    await eventually(lambda: not is_running(pid))


async def test_no_other_key_reaches_a_command_even_in_the_same_session(
    flow: StartFlow,
) -> None:
    names: list[str] = []

    def model(request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last["role"] == "tool":
            names.extend(re.findall(r'id="(proc_\w+)"', str(last["content"])))
            return Text(str(last["content"]))
        if not names:
            return background()
        return ToolUse("process", {"action": "kill", "id": names[0]})

    served = await flow(model, keys={"other": {"key": OTHER}})
    await told(served, session_id="s1")
    refused = await told_other(served, session_id="s1")
    assert "There is no process 'proc_" in refused
    assert "[ended by process(action=kill)" in await told(served, session_id="s1")


async def test_what_was_cut_is_read_in_a_later_turn_by_the_same_key_only(flow: StartFlow) -> None:
    names: list[str] = []

    def model(request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last["role"] == "tool":
            names.extend(re.findall(r'id="(out_\w+)"', str(last["content"])))
            return Text(str(last["content"])[-300:])
        if not names:
            return ToolUse("python", {"code": "for i in range(30000): print(i)"})
        return ToolUse("read_output", {"id": names[0], "find": "\n15000\n"})

    served = await flow(model, keys={"other": {"key": OTHER}})
    await told(served, session_id="s1")
    assert "15000" in await told(served, session_id="s2")
    assert "There is no output 'out_" in await told_other(served, session_id="s1")


async def test_commands_and_code_are_in_the_log_of_the_run(flow: StartFlow) -> None:
    served = await flow(
        [
            ToolUse("terminal", {"command": "exit 3"}),
            ToolUse("python", {"code": "print(1)"}),
            Text("Done."),
        ]
    )
    run = await begin(served)
    await ended(served, run["id"])
    ran = [each for each in await events(served, run["id"]) if each["type"] == "command.ran"]
    assert [(each["command"], each["exit_code"]) for each in ran] == [
        ("exit 3", 3),
        ("python: print(1)", 0),
    ]


async def test_the_end_of_a_background_command_is_in_the_log_of_a_run_that_still_works(
    flow: StartFlow,
) -> None:
    def model(request: ModelRequest) -> Reply:
        found = re.search(r'id="(proc_\w+)"', str(request.messages[-1]["content"]))
        if request.number == 1 or found is None:
            return background("sleep 0.7; exit 5") if request.number == 1 else Text("Done.")
        return ToolUse("process", {"action": "wait", "id": found[1]})

    served = await flow(model)
    run = await begin(served)
    await ended(served, run["id"])
    ran = [each for each in await events(served, run["id"]) if each["type"] == "command.ran"]
    assert [(each["command"], each["exit_code"]) for each in ran] == [("sleep 0.7; exit 5", 5)]


async def test_destructive_code_and_background_commands_wait_for_approval(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = default_workspace(tmp_path)
    workspace.mkdir(parents=True)
    (workspace / "precious").write_text("x")
    code = "import os\nos.remove('precious')"
    served = await flow([ToolUse("python", {"code": code}), background("rm -r ."), Text("Done.")])
    run = await begin(served)
    run = await in_state(served, run["id"], "waiting_for_approval")
    assert [each["command"] for each in run["approvals"]] == [code]
    url = f"{RUNS}/{run['id']}/approval"
    await served.answer("POST", url, json={"decision": "deny"})
    run = await in_state(served, run["id"], "waiting_for_approval")
    assert run["approvals"][-1]["command"] == "rm -r ."
    await served.answer("POST", url, json={"decision": "deny"})
    await ended(served, run["id"])
    assert (workspace / "precious").exists()


async def test_a_chat_reaches_its_command_by_the_id_that_its_history_names(
    flow: StartFlow,
) -> None:
    def model(request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last["role"] == "tool":
            return Text(str(last["content"]))
        said = str([each["content"] for each in request.messages if each["role"] == "assistant"])
        found = re.search(r"proc_\w+", said)
        if not found:
            return background()
        return ToolUse("process", {"action": "poll", "id": found[0]})

    served = await flow(model)
    history: list[Any] = [{"role": "user", "content": "Start it."}]
    first = await served.sdk.chat.completions.create(model="hermes", messages=history)
    history += [
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": "How is it?"},
    ]
    second = await served.sdk.chat.completions.create(model="hermes", messages=history)
    assert "[running for" in str(second.choices[0].message.content)


@pytest.mark.parametrize("tool", ["terminal", "python"])
async def test_with_a_sandbox_chosen_nothing_runs_without_it(
    flow: StartFlow, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    arguments = {"terminal": {"command": "touch ran"}, "python": {"code": "open('ran', 'w')"}}
    served = await flow(
        Agent(ToolUse(tool, arguments[tool])), tools=ToolSettings(sandbox="bubblewrap")
    )
    assert "bubblewrap is not installed" in await told(served, session_id="s1")
    assert not (default_workspace(tmp_path) / "ran").exists()


async def test_in_the_sandbox_the_agent_sees_its_workspace_and_no_key(
    flow: StartFlow, tmp_path: Path
) -> None:
    problem = problem_with(shutil.which(PROGRAM))
    if problem:
        pytest.skip(problem)
    (tmp_path / "config.yaml").write_text("api_key: canary")
    look = ToolUse("terminal", {"command": f"cat {tmp_path}/config.yaml; touch ran"})
    served = await flow(Agent(look), tools=ToolSettings(sandbox="bubblewrap"))
    said = await told(served, session_id="s1")
    assert "No such file" in said
    assert "canary" not in said
    assert (default_workspace(tmp_path) / "ran").exists()


async def test_the_tools_are_listed_with_their_toolsets(flow: StartFlow) -> None:
    served = await flow([])
    _, body = await served.answer("GET", "/v1/toolsets")
    tools = {each["id"]: each["tools"] for each in body["data"]}
    assert {"terminal", "process", "python"} <= {each["name"] for each in tools["terminal"]}
    assert "read_output" in {each["name"] for each in tools["files"]}
