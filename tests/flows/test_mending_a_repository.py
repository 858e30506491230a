"""A whole task over the API: a failing test in a small repository is mended, in view of everybody.

On the way the provider goes away and another one goes on, a person approves one command, and at
the end a receipt says what was done, which an undo takes back.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.paths import default_workspace
from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import HttpError, Reply, Text, ToolUse
from hermes.testing.scripted import ModelRequest, ScriptedModel
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import begin, ended, events, in_state

TEST = f"{sys.executable} -B -m unittest -q test_totals"
FILES = {
    "totals.py": "def total(prices):\n    return sum(prices) - 1\n",
    "test_totals.py": (
        "import unittest\n\nfrom totals import total\n\n\n"
        "class Totals(unittest.TestCase):\n"
        "    def test_nothing_is_lost(self):\n"
        "        self.assertEqual(total([1, 2]), 3)\n"
    ),
    "build/old.txt": "left over\n",
    "build/lib/older.txt": "left over too\n",
}

PLAN: dict[int, Reply] = {
    0: [Text("I look at what fails."), ToolUse("terminal", {"command": TEST}, id="fails")],
    1: [
        ToolUse("read_file", {"path": "totals.py"}, id="code"),
        ToolUse("read_file", {"path": "test_totals.py"}, id="test"),
    ],
    3: ToolUse(
        "patch_file",
        {"path": "totals.py", "old_text": "sum(prices) - 1", "new_text": "sum(prices)"},
        id="patch",
    ),
    4: ToolUse("terminal", {"command": "rm -r build"}, id="clean"),
    5: ToolUse("terminal", {"command": TEST}, id="passes"),
    6: Text("The sum was one too small; the test passes now, and build is gone."),
}
"""What the model says when so many calls are answered."""


def solve(request: ModelRequest) -> Reply:
    return PLAN[len(request.tool_results)]


def solve_until_it_breaks(request: ModelRequest) -> Reply:
    if len(request.tool_results) >= 3:
        return HttpError(503, {"error": {"message": "The data centre is on fire."}})
    return solve(request)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = default_workspace(tmp_path / "home")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_a_failing_test_is_mended_through_an_outage_with_one_approval_and_taken_back(
    flow: StartFlow, repository: Path, tmp_path: Path
) -> None:
    before = tree(repository)
    async with FakeProvider(ScriptedModel(solve)) as other:
        behind = {"model": "second", "base_url": other.base_url, "api_key": "x"}
        served = await flow(
            ScriptedModel(solve_until_it_breaks),
            home=tmp_path / "home",
            agent={"fallback_model": behind},
        )
        run = await _mended(served)
        await _is_all_to_be_seen(served, run["id"])
        mended = tree(repository)
        assert mended["totals.py"][0] == b"def total(prices):\n    return sum(prices)\n"
        assert set(before) - set(mended) == {"build/old.txt", "build/lib/older.txt"}
        await _has_a_receipt(served, run["id"])
        await _is_taken_back(served, run["id"], repository, before)


async def _mended(served: Flow) -> dict[str, Any]:
    run = await begin(served, input="A test fails here. Mend it and clean up.", session_id="mend")
    waiting = await in_state(served, run["id"], "waiting_for_approval")
    (question,) = waiting["approvals"]
    assert (question["tool"], question["command"]) == ("terminal", "rm -r build")
    status, _ = await served.answer(
        "POST", f"/v1/runs/{run['id']}/approval", json={"decision": "once"}
    )
    assert status == 200
    run = await ended(served, run["id"])
    assert (run["status"], run["output"]) == ("completed", PLAN[6].text)  # type: ignore[union-attr]
    return run


async def _is_all_to_be_seen(served: Flow, run_id: str) -> None:
    log = await events(served, run_id)
    started = [event["call_id"] for event in log if event["type"] == "tool.started"]
    finished = {event["call_id"] for event in log if event["type"] == "tool.finished"}
    assert started == ["fails", "code", "test", "patch", "clean", "passes"]
    assert finished == set(started)
    assert "".join(e["delta"] for e in log if e["type"] == "text.delta").startswith("I look at")
    notices = [event["code"] for event in log if event["type"] == "notice"]
    # The second time after the approval: the first provider is still left alone then.
    assert notices == ["provider_retry"] * 2 + ["provider_fallback"] * 2
    assert not any("fire" in str(event) for event in log if event["type"] == "text.delta")
    kinds = [event["type"] for event in log]
    assert kinds.count("approval.requested") == kinds.count("approval.decided") == 1
    assert kinds[-1] == "run.completed"


async def _has_a_receipt(served: Flow, run_id: str) -> None:
    status, receipt = await served.answer("GET", f"/v1/runs/{run_id}/receipt")
    assert status == 200
    assert [(each["command"], each["exit_code"]) for each in receipt["commands"]] == [
        (TEST, 1),
        ("rm -r build", 0),
        (TEST, 0),
    ]
    assert {each["path"]: each["change"] for each in receipt["files"]} == {
        "totals.py": "changed",
        "build": "deleted",
        "build/lib": "deleted",
        "build/old.txt": "deleted",
        "build/lib/older.txt": "deleted",
    }


async def _is_taken_back(
    served: Flow, run_id: str, repository: Path, before: dict[str, tuple[bytes, int]]
) -> None:
    mended = tree(repository)
    undo = f"/v1/runs/{run_id}/undo"
    status, planned = await served.answer("POST", undo, params={"dry_run": "true"})
    assert (status, tree(repository)) == (200, mended)
    status, done = await served.answer("POST", undo)
    assert (status, done["files"]) == (200, planned["files"])
    assert tree(repository) == before
