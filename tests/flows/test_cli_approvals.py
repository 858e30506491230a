"""What a CLI agent asks before it does it: the same doors as for our own tools."""

from __future__ import annotations

from pathlib import Path

from hermes.core.cli_agents import Profile
from tests.flows.conftest import StartFlow
from tests.flows.hosted import (
    EDIT,
    MODEL,
    chat,
    hosting,
    nothing_is_left,
    processes_of_jobs,
    text_of,
)
from tests.flows.run_client import RUNS, begin, ended, events, in_state, kinds


async def test_a_call_is_asked_about_and_made_by_the_process_that_waits(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path, **EDIT)
    run = await begin(served, input="[ask: npm install]", model=MODEL)
    run = await in_state(served, run["id"], "waiting_for_approval")
    [asked] = run["approvals"]
    waiting = processes_of_jobs(tmp_path / "home")
    await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "once"})
    run = await ended(served, run["id"])

    assert (asked["tool"], asked["command"]) == ("Bash", "npm install")
    assert waiting, "the process waits for the decision"
    assert run["output"] == "It ran."
    told = await events(served, run["id"])
    asked_at = kinds(told).index("approval.requested")
    assert [kind for kind in kinds(told) if kind.startswith("tool.")] == [
        "tool.started",
        "tool.finished",
    ]
    assert kinds(told).index("tool.started") > asked_at
    await nothing_is_left(tmp_path / "home")


async def test_a_call_that_is_denied_is_not_made(flow: StartFlow, tmp_path: Path) -> None:
    served = await hosting(flow, tmp_path, **EDIT)
    run = await begin(served, input="[ask: npm install]", model=MODEL)
    await in_state(served, run["id"], "waiting_for_approval")
    await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "deny"})
    run = await ended(served, run["id"])

    assert run["output"].startswith("It did not run: Denied by the user")


async def test_a_decision_that_comes_late_holds_for_another_process(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path, cli={"park_seconds": 0.0}, **EDIT)
    run = await begin(served, input="[ask: npm install]", model=MODEL)
    await in_state(served, run["id"], "waiting_for_approval")
    await nothing_is_left(tmp_path / "home")
    await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "once"})
    run = await ended(served, run["id"])

    assert "The user has approved this call" in run["output"]
    assert "npm install" in run["output"]


async def test_a_chat_asks_in_its_own_words(flow: StartFlow, tmp_path: Path) -> None:
    served = await hosting(flow, tmp_path, **EDIT)
    _, asked = await chat(served, "[ask: npm install]")
    question = text_of(asked)
    assert "npm install" in question
    _, answer = await chat(
        served,
        "",
        messages=[
            {"role": "user", "content": "[ask: npm install]"},
            {"role": "assistant", "content": question},
            {"role": "user", "content": "yes"},
        ],
    )

    assert text_of(answer) == "It ran."


async def test_below_edit_nothing_is_asked(flow: StartFlow, tmp_path: Path) -> None:
    served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
    _, answer = await chat(served, "[ask: npm install]")

    assert text_of(answer).startswith("It did not run: Denied: the profile 'read-only'")
