"""Commands end with the gateway: at a SIGTERM at once, after a `kill -9` when it starts again."""

from __future__ import annotations

from pathlib import Path

from hermes.settings.paths import commands_folder, default_workspace
from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import ScriptedModel
from tests.faults.served import Served, serving, until
from tests.unit.tools.processes import is_running, pids_in

BACKGROUND = "setsid sleep 300 & echo $! $$ >> pids; trap '' TERM; while true; do sleep 9; done"
FOREGROUND = "echo $$ >> pids; sleep 300"


def model(request: ModelRequest) -> Reply:
    if request.number == 1:
        return ToolUse("terminal", {"command": BACKGROUND, "background": True})
    if request.number == 2:
        return ToolUse("terminal", {"command": FOREGROUND, "timeout": 600})
    return Text("Done.")


async def at_work(served: Served) -> list[int]:
    """Every process of a command in the background and of one that is waited for."""
    workspace = default_workspace(served.home)
    status, body = await served.answer("POST", "/v1/runs", json={"input": "Go."})
    assert status == 202, body

    async def all_run() -> bool:
        return len(pids_in(workspace)) == 3

    await until(all_run)
    pids = pids_in(workspace)
    assert all(map(is_running, pids))
    return pids


async def gone(pids: list[int]) -> None:
    async def none_runs() -> bool:
        return not any(map(is_running, pids))

    await until(none_runs)


async def test_after_a_kill_the_next_start_ends_what_was_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with FakeProvider(ScriptedModel(model)) as provider:
        async with serving(home, provider) as served:
            pids = await at_work(served)
            await served.kill()
        assert all(map(is_running, pids))
        async with serving(home, provider) as again:
            await gone(pids)
            assert list(commands_folder(home).iterdir()) == []
            assert await again.stop() == 0


async def test_at_a_sigterm_nothing_is_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with FakeProvider(ScriptedModel(model)) as provider, serving(home, provider) as served:
        pids = await at_work(served)
        assert await served.stop() == 0
        await gone(pids)
        assert list(commands_folder(home).iterdir()) == []
