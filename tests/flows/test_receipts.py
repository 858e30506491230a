"""What runs did, over real sockets: receipts, dry runs, undoing, and what is left after a kill."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.paths import default_workspace, shadow_db
from hermes.settings.receipt_options import ReceiptSettings
from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.scripted import ScriptedModel
from tests.flows.conftest import Flow, StartFlow, eventually
from tests.flows.run_client import HELD, RUNS, begin, ended, in_state, release
from tests.flows.test_process import serving
from tests.unit.shadow.trees import File, Link, Node, grown, plant

UNASKED = {"approvals": None}
"""Nothing has to be approved: undoing is what this is about."""

BEFORE: dict[str, Node] = {
    "a.txt": File(b"first\n"),
    "b.py": File(b"def add(a, b):\n    return a - b\n"),
    "c.txt": File(b"one\n"),
    "d.bin": File(bytes(range(256)) * 20),
    "e.txt": File(b"delete me\n", 0o600),
    "f.txt": File(b"rename me\n", 0o640),
    "run.sh": File(b"#!/bin/sh\n", 0o755),
    "link": Link("a.txt"),
    "data.json": File(b'{"n": 1}'),
    "h.txt": File(b"mine\n"),
    "gone": Link("nowhere"),
    "untouched.txt": File(b"same\n"),
}
THIRTEEN: list[Reply] = [
    ToolUse("write_file", {"path": "new.txt", "content": "brand new\n"}),
    ToolUse("write_file", {"path": "a.txt", "content": "second\n"}),
    ToolUse("patch_file", {"path": "b.py", "old_text": "a - b", "new_text": "a + b"}),
    ToolUse(
        "terminal",
        {
            "command": "echo two >> c.txt; printf '\\000\\001' > d.bin; rm e.txt gone; "
            "mv f.txt g.txt; chmod 600 run.sh; ln -sfn c.txt link; echo agent > h.txt"
        },
    ),
    ToolUse("python", {"code": "open('data.json', 'w').write('[]')"}),
    Text("All done."),
]
CHANGED = {
    "new.txt": "created",
    "a.txt": "changed",
    "b.py": "changed",
    "c.txt": "changed",
    "d.bin": "changed",
    "e.txt": "deleted",
    "gone": "deleted",
    "f.txt": "deleted",
    "g.txt": "created",
    "run.sh": "changed",
    "link": "changed",
    "h.txt": "changed",
    "data.json": "changed",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = default_workspace(tmp_path)
    folder.mkdir(mode=0o700)
    return folder


async def receipt_of(served: Flow, run_id: str) -> dict[str, Any]:
    status, receipt = await served.answer("GET", f"{RUNS}/{run_id}/receipt")
    assert status == 200, receipt
    return dict(receipt)


async def undo(served: Flow, run_id: str, query: str = "") -> dict[str, Any]:
    status, told = await served.answer("POST", f"{RUNS}/{run_id}/undo{query}")
    assert status == 200, told
    return dict(told)


def results(told: dict[str, Any]) -> dict[str, str]:
    return {each["path"]: each["result"] for each in told["files"]}


async def changed_thirteen(flow: StartFlow, workspace: Path) -> tuple[Flow, str]:
    plant(workspace, BEFORE)
    served = await flow(THIRTEEN, agent=UNASKED)
    run = await begin(served, wait=20)
    assert run["status"] == "completed", run
    return served, run["id"]


# --- thirteen files -------------------------------------------------------------------------------


async def test_a_receipt_names_every_file_command_and_call(
    flow: StartFlow, workspace: Path
) -> None:
    served, run_id = await changed_thirteen(flow, workspace)
    receipt = await receipt_of(served, run_id)

    assert {each["path"]: each["change"] for each in receipt["files"]} == CHANGED
    assert all(each["restorable"] and each["certain"] for each in receipt["files"])
    assert receipt["workspaces"] == [str(workspace.resolve())]
    script = next(each for each in receipt["files"] if each["path"] == "run.sh")
    assert (script["before"]["mode"], script["after"]["mode"]) == ("0755", "0600")
    assert script["before"]["digest"] == script["after"]["digest"]
    link = next(each for each in receipt["files"] if each["path"] == "link")
    assert (link["before"]["type"], link["after"]["type"]) == ("link", "link")
    assert [each["exit_code"] for each in receipt["commands"]] == [0, 0]
    assert receipt["commands_tracked"] is True
    named = [each["name"] for each in receipt["tool_calls"]]
    assert named == ["write_file", "write_file", "patch_file", "terminal", "python"]
    assert all(each["finished"] for each in receipt["tool_calls"])
    calls = {each["call_id"] for each in receipt["tool_calls"]}
    assert {call for each in receipt["files"] for call in each["call_ids"]} == calls
    assert receipt["usage"]["total_tokens"] > 0
    assert receipt["undone_at"] is None


async def test_undoing_restores_twelve_files_and_keeps_the_one_that_was_edited_by_hand(
    flow: StartFlow, workspace: Path
) -> None:
    served, run_id = await changed_thirteen(flow, workspace)
    (workspace / "h.txt").write_text("edited by hand\n")
    edited = grown(workspace)

    foretold = await undo(served, run_id, "?dry_run=true")
    assert grown(workspace) == edited
    assert foretold["dry_run"] is True
    assert (await receipt_of(served, run_id))["undone_at"] is None

    told = await undo(served, run_id)
    assert told["files"] == foretold["files"]
    kept = [each for each in told["files"] if each["result"] == "kept"]
    assert [(each["path"], each["reason"]) for each in kept] == [("h.txt", "edited_since")]
    assert told["counts"]["restored"] + told["counts"]["removed"] == 12
    assert told["counts"]["removed"] == 2
    assert grown(workspace) == {**BEFORE, "h.txt": File(b"edited by hand\n")}


async def test_undoing_twice_changes_nothing_and_says_so(flow: StartFlow, workspace: Path) -> None:
    served, run_id = await changed_thirteen(flow, workspace)
    first = await undo(served, run_id)
    second = await undo(served, run_id)

    assert grown(workspace) == BEFORE
    assert first["undone_before_at"] is None
    assert second["undone_before_at"] > 0
    assert set(results(second).values()) == {"unchanged"}
    assert (await receipt_of(served, run_id))["undone_at"] >= second["undone_before_at"]


async def test_what_is_kept_for_undoing_can_be_read_by_nobody_else(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    await changed_thirteen(flow, workspace)
    folder = shadow_db(tmp_path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}
    assert modes == {0o600}
    assert not list(workspace.rglob("*.db"))


# --- several runs ---------------------------------------------------------------------------------


async def test_an_older_run_leaves_what_a_later_one_changed_and_names_it(
    flow: StartFlow, workspace: Path
) -> None:
    plant(workspace, {"a.txt": File(b"0", 0o600), "b.txt": File(b"0", 0o600)})
    script: list[Reply] = [
        ToolUse("write_file", {"path": "a.txt", "content": "1"}),
        ToolUse("write_file", {"path": "b.txt", "content": "1"}),
        Text("One."),
        ToolUse("terminal", {"command": "printf 2 > a.txt"}),
        Text("Two."),
    ]
    served = await flow(script, agent=UNASKED)
    first = await begin(served, wait=20)
    second = await begin(served, wait=20)

    told = await undo(served, first["id"])
    [kept] = [each for each in told["files"] if each["result"] == "kept"]
    assert (kept["path"], kept["reason"], kept["run_id"]) == ("a.txt", "edited_since", second["id"])
    assert (workspace / "b.txt").read_text() == "0"

    await undo(served, second["id"])
    assert results(await undo(served, first["id"])) == {"a.txt": "restored", "b.txt": "unchanged"}
    assert (workspace / "a.txt").read_text() == "0"


async def test_folders_that_a_run_made_go_with_it_unless_something_is_in_them(
    flow: StartFlow, workspace: Path
) -> None:
    script: list[Reply] = [
        ToolUse("write_file", {"path": "deep/er/new.txt", "content": "x"}),
        ToolUse("terminal", {"command": "mkdir -p other/empty"}),
        Text("Done."),
    ]
    served = await flow(script, agent=UNASKED)
    run = await begin(served, wait=20)
    (workspace / "other" / "mine.txt").write_text("mine")

    told = results(await undo(served, run["id"]))
    assert told == {
        "deep": "removed",
        "deep/er": "removed",
        "deep/er/new.txt": "removed",
        "other": "kept",
        "other/empty": "removed",
    }
    assert sorted(grown(workspace)) == ["other", "other/mine.txt"]


async def test_what_two_runs_may_both_have_changed_is_kept(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    plant(workspace, {"shared.txt": File(b"before")})
    model = ByWords({"held": [HELD, Text("a")], "quick": [QUICK, Text("b")]})
    served = await flow(model, agent=UNASKED)
    slow = await begin(served, input="held")
    await eventually(lambda: model.asked == 1)
    await in_state(served, slow["id"], "running")
    await eventually(lambda: has_begun_a_command(served))
    quick = await begin(served, input="quick", wait=20)
    release(tmp_path)
    await ended(served, slow["id"])

    for run_id in (slow["id"], quick["id"]):
        told = await undo(served, run_id)
        shared = next(each for each in told["files"] if each["path"] == "shared.txt")
        assert (shared["result"], shared["reason"]) == ("kept", "uncertain")
    assert (workspace / "shared.txt").read_text() == "quick\n"


QUICK = ToolUse("terminal", {"command": "echo quick > shared.txt"})


class ByWords:
    """Replies by what the user said, whoever asks first."""

    def __init__(self, replies: dict[str, list[Reply]]) -> None:
        self._replies = replies
        self.asked = 0

    def reply(self, request: Any) -> Reply:
        self.asked += 1
        said = next(m["content"] for m in request.messages if m["role"] == "user")
        return self._replies[str(said)].pop(0)


def has_begun_a_command(served: Flow) -> bool:
    shadow: Any = served.gateway.adapter.seams.shadow()
    return any(opening.before is None for opening in shadow._store().openings())


# --- every kind of run ----------------------------------------------------------------------------

WRITES: list[Reply] = [
    ToolUse("write_file", {"path": "made.txt", "content": "x"}),
    ToolUse("terminal", {"command": "exit 3"}),
    Text("Done."),
]


async def chat(served: Flow, **body: Any) -> str:
    """A chat from memory; the id of its run."""
    asked = {"model": "any", "messages": [{"role": "user", "content": "Go"}], **body}
    async with served.http.post(f"{served.gateway.base_url}/chat/completions", json=asked) as told:
        assert told.status == 200, await told.text()
        await told.read()
        return told.headers["X-Hermes-Run-Id"]


async def response(served: Flow, **body: Any) -> str:
    asked = {"input": "Go", **body}
    async with served.http.post(f"{served.gateway.base_url}/responses", json=asked) as told:
        assert told.status == 200, await told.text()
        await told.read()
        return told.headers["X-Hermes-Run-Id"]


async def in_session(served: Flow, **_body: Any) -> str:
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"{served.gateway.url}/api/sessions/{made['session']['id']}/chat"
    async with served.http.post(path, json={"message": "Go"}) as told:
        assert told.status == 200, await told.text()
        return told.headers["X-Hermes-Run-Id"]


ROUTES = [
    (chat, {}),
    (chat, {"stream": True}),
    (chat, {"store": True}),
    (response, {"store": False}),
    (response, {"store": False, "stream": True}),
    (response, {"store": True}),
    (in_session, {}),
]


@pytest.mark.parametrize(("ask", "body"), ROUTES)
async def test_every_kind_of_run_has_a_receipt_that_outlives_the_process(
    flow: StartFlow, workspace: Path, tmp_path: Path, ask: Any, body: dict[str, Any]
) -> None:
    served = await flow(WRITES, agent=UNASKED)
    run_id = await ask(served, **body)
    at_once = await receipt_of(served, run_id)
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    later = await receipt_of(again, run_id)

    for receipt in (at_once, later):
        assert [each["path"] for each in receipt["files"]] == ["made.txt"]
        assert [each["exit_code"] for each in receipt["commands"]] == [3]
    assert [each["name"] for each in later["tool_calls"]] == ["write_file", "terminal"]
    assert results(await undo(again, run_id)) == {"made.txt": "removed"}
    assert not (workspace / "made.txt").exists()


async def test_of_a_chat_from_memory_only_what_it_did_is_kept(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    served = await flow(WRITES, agent=UNASKED)
    run_id = await chat(served)
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    _, run = await again.answer("GET", f"{RUNS}/{run_id}")
    assert (run["status"], run["output"]) == ("completed", "")


async def test_a_chat_that_did_nothing_is_forgotten(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([Text("Hello.")])
    run_id = await chat(served)
    assert (await receipt_of(served, run_id))["files"] == []
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    status, _ = await again.answer("GET", f"{RUNS}/{run_id}/receipt")
    assert status == 404


async def test_a_chat_whose_client_left_keeps_its_receipt(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    plant(workspace, {"a.txt": File(b"before")})
    held = ToolUse("terminal", {"command": "echo after > a.txt; touch began; sleep 60"})
    served = await flow([held, Text("Done.")], agent=UNASKED)
    asked = {"model": "any", "stream": True, "messages": [{"role": "user", "content": "Go"}]}
    url = f"{served.gateway.base_url}/chat/completions"
    async with served.http.post(url, json=asked) as told:
        run_id = told.headers["X-Hermes-Run-Id"]
        await eventually((workspace / "began").exists)
    async with asyncio.timeout(10):
        while not (receipt := await receipt_of(served, run_id))["files"]:
            await asyncio.sleep(0.02)
    assert {each["path"] for each in receipt["files"]} == {"a.txt", "began"}
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    await undo(again, run_id)
    assert grown(workspace) == {"a.txt": File(b"before")}


async def test_what_sub_agents_do_is_in_the_receipt(flow: StartFlow, workspace: Path) -> None:
    script: list[Reply] = [
        ToolUse("delegate", {"task": "Write it."}),
        ToolUse("write_file", {"path": "by-another.txt", "content": "x"}),
        Text("Written."),
        Text("Done."),
    ]
    served = await flow(script, agent=UNASKED)
    run = await begin(served, wait=20)
    receipt = await receipt_of(served, run["id"])
    assert [each["path"] for each in receipt["files"]] == ["by-another.txt"]
    outer, inner = receipt["tool_calls"]
    assert (outer["name"], outer["delegated_by"]) == ("delegate", None)
    assert (inner["name"], inner["delegated_by"]) == ("write_file", outer["call_id"])
    assert results(await undo(served, run["id"])) == {"by-another.txt": "removed"}


async def test_a_deleted_session_takes_along_what_files_were_before_its_runs(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    secret = "a secret that nobody wants to keep, long enough to be found"
    plant(workspace, {"a.txt": File(secret.encode())})
    served = await flow(
        [ToolUse("write_file", {"path": "a.txt", "content": "public"}), Text("Done.")],
        agent=UNASKED,
    )
    run_id = await in_session(served)
    [file] = (await receipt_of(served, run_id))["files"]
    shadow: Any = served.gateway.adapter.seams.shadow()
    digest = file["before"]["digest"].removeprefix("sha256:")
    assert shadow._store().content(digest) == secret.encode()
    _, page = await served.answer("GET", "/api/sessions")
    await served.answer("DELETE", f"/api/sessions/{page['data'][0]['id']}")
    assert shadow._store().content(digest) is None


# --- what cannot be done --------------------------------------------------------------------------


async def test_a_run_at_work_has_a_receipt_but_cannot_be_undone(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    first = ToolUse("write_file", {"path": "a.txt", "content": "x"})
    served = await flow([first, HELD, Text("Done.")], agent=UNASKED)
    run = await begin(served)
    await eventually(lambda: has_begun_a_command(served))
    receipt = await receipt_of(served, run["id"])
    status, refused = await served.answer("POST", f"{RUNS}/{run['id']}/undo")
    release(tmp_path)
    await ended(served, run["id"])

    assert [each["path"] for each in receipt["files"]] == ["a.txt"]
    assert [each["finished"] for each in receipt["tool_calls"]] == [True, False]
    assert (status, refused["error"]["code"]) == (409, "run_not_finished")
    assert (workspace / "a.txt").exists()


async def test_others_neither_see_nor_undo_a_run(flow: StartFlow, workspace: Path) -> None:
    other = {"other": {"key": "another-key-0123456789"}}
    served = await flow(WRITES, agent=UNASKED, keys=other)
    run = await begin(served, wait=20)
    for method, what in (("GET", "receipt"), ("POST", "undo")):
        status, refused = await served.answer(
            method,
            f"{RUNS}/{run['id']}/{what}",
            headers={"Authorization": "Bearer another-key-0123456789"},
        )
        assert (status, refused["error"]["code"]) == (404, "run_not_found")
    assert (workspace / "made.txt").exists()


@pytest.mark.parametrize("query", ["?dry_run=maybe", "?dry_run=2"])
async def test_a_dry_run_is_asked_for_with_yes_or_no(
    flow: StartFlow, workspace: Path, query: str
) -> None:
    served = await flow(WRITES, agent=UNASKED)
    run = await begin(served, wait=20)
    status, refused = await served.answer("POST", f"{RUNS}/{run['id']}/undo{query}")
    assert (status, refused["error"]["param"]) == (400, "dry_run")


async def test_links_are_never_followed_out_of_the_workspace(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    plant(workspace, {"d": File(b"")})
    (workspace / "d").unlink()
    (workspace / "d").mkdir()
    (workspace / "d" / "a.txt").write_text("before")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("after\n")
    command = ToolUse("terminal", {"command": "echo after > d/a.txt"})
    served = await flow([command, Text("Done.")], agent=UNASKED)
    run = await begin(served, wait=20)
    (workspace / "d" / "a.txt").unlink()
    (workspace / "d").rmdir()
    (workspace / "d").symlink_to(outside)

    told = await undo(served, run["id"])
    assert results(told) == {"d/a.txt": "kept"}
    assert (outside / "a.txt").read_text() == "after\n"


async def test_a_file_that_is_too_large_is_noted_and_kept(flow: StartFlow, workspace: Path) -> None:
    plant(workspace, {"big.bin": File(b"x" * 2000), "small.txt": File(b"x")})
    command = ToolUse("terminal", {"command": "printf y > small.txt; printf y >> big.bin"})
    served = await flow(
        [command, Text("Done.")], agent=UNASKED, receipts=ReceiptSettings(max_file_bytes=1000)
    )
    run = await begin(served, wait=20)
    receipt = await receipt_of(served, run["id"])
    assert {each["path"]: each["restorable"] for each in receipt["files"]} == {
        "big.bin": False,
        "small.txt": True,
    }
    told = await undo(served, run["id"])
    assert results(told) == {"big.bin": "kept", "small.txt": "restored"}


async def test_a_workspace_that_is_too_large_says_that_commands_are_not_tracked(
    flow: StartFlow, workspace: Path
) -> None:
    plant(workspace, {f"{number}.txt": File(b"x") for number in range(6)})
    served = await flow(
        [
            ToolUse("terminal", {"command": "echo y > 1.txt"}),
            ToolUse("write_file", {"path": "2.txt", "content": "y"}),
            Text("Done."),
        ],
        agent=UNASKED,
        receipts=ReceiptSettings(max_files=5),
    )
    run = await begin(served, wait=20)
    receipt = await receipt_of(served, run["id"])
    assert receipt["commands_tracked"] is False
    assert "receipts.max_files" in receipt["commands"][0]["untracked"]
    assert [each["path"] for each in receipt["files"]] == ["2.txt"]


async def test_switched_off_nothing_is_kept_and_the_receipt_says_so(
    flow: StartFlow, workspace: Path, tmp_path: Path
) -> None:
    served = await flow(WRITES, agent=UNASKED, receipts=ReceiptSettings(enabled=False))
    run = await begin(served, wait=20)
    receipt = await receipt_of(served, run["id"])
    assert receipt["files"] == []
    assert "receipts.enabled" in receipt["commands"][0]["untracked"]


# --- dying ----------------------------------------------------------------------------------------


async def test_a_kill_in_the_middle_of_a_command_loses_nothing_that_can_be_undone(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    workspace = default_workspace(home)
    workspace.mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    before: dict[str, Node] = {"a.txt": File(b"a", 0o600), "b.txt": File(b"b", 0o600)}
    plant(workspace, before)
    script: list[Reply] = [
        ToolUse("write_file", {"path": "a.txt", "content": "agent"}),
        ToolUse("terminal", {"command": "echo agent > b.txt; touch began; sleep 30"}),
    ]
    async with FakeProvider(ScriptedModel(script)) as provider:
        async with serving(home, provider) as served:
            _, run = await served.answer("POST", "/v1/runs", json={"input": "Go"})
            await eventually((workspace / "began").exists, within=20)
            served.process.kill()
            await served.process.wait()
        async with serving(home, provider) as again:
            _, receipt = await again.answer("GET", f"/v1/runs/{run['id']}/receipt")
            _, told = await again.answer("POST", f"/v1/runs/{run['id']}/undo")

    assert receipt["status"] == "interrupted"
    assert [each["path"] for each in receipt["files"]] == ["a.txt", "b.txt", "began"]
    assert [each["finished"] for each in receipt["tool_calls"]] == [True, False]
    assert results(told) == {"a.txt": "restored", "b.txt": "restored", "began": "removed"}
    assert grown(workspace) == before
