"""The bridge without a web server: who is let in, what each case is answered with."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.bridge import answers
from hermes.backends.bridge.answers import BridgeAnswer, refusal
from hermes.backends.bridge.running import Seams
from hermes.backends.bridge.service import Bridge
from hermes.backends.workspaces.reports import SyncReport, SyncStatus
from hermes.core.errors import ApiError, InvalidApiKey, InvalidRequest, Unavailable

BODY = json.dumps({"model": "haiku", "messages": [{"role": "user", "content": "hi"}]}).encode()
JOB = json.dumps({"prompt": "hi"}).encode()


async def no_sync() -> object:
    return "an embedder's own report"


def seams_with(environ: dict[str, str], **changes: Any) -> Seams:
    fields: dict[str, Any] = {
        "environ": environ,
        "token": environ.get("API_BEARER_TOKEN", ""),
        "lock": asyncio.Lock(),
        "sync": no_sync,
    }
    return Seams(**(fields | changes))


def bridge_with(environ: dict[str, str], **changes: Any) -> Bridge:
    return bridge_of(seams_with(environ, **changes))


def bridge_of(seams: Seams) -> Bridge:
    return Bridge(lambda: seams)


async def answer(bridge: Bridge, body: bytes = BODY) -> BridgeAnswer:
    return await bridge.answer_chat(bridge.read_chat(body))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An operator's environment whose CLI prints what `CLAUDE_PRINTED` says."""
    script = "import os, sys; print(os.environ['CLAUDE_PRINTED']); sys.exit(0)"
    return {
        "PATH": os.environ["PATH"],
        "API_BEARER_TOKEN": "open-sesame",
        "HERMES_HOME": str(tmp_path / "hermes-home"),
        "WORKSPACE_DIR": str(tmp_path / "work" / "space"),
        "CLAUDE_COMMAND": f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}",
        "CLAUDE_PRINTED": json.dumps({"type": "result", "result": "Hello."}),
    }


async def detail_of_failure(seams: Seams) -> str:
    with pytest.raises(Unavailable) as failed:
        await answer(bridge_of(seams))
    refused = refusal(failed.value)
    assert refused.status == 503
    assert refused.body["error"] == "execution failed"
    assert not seams.lock.locked()
    return str(refused.body["detail"])


@pytest.mark.parametrize("header", ["Bearer open-sesame", "bearer  open-sesame "])
def test_the_configured_token_lets_in(environ: dict[str, str], header: str) -> None:
    bridge_with(environ).admit(header)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer wrong", "open-sesame", "Basic open-sesame"]
)
def test_anything_else_is_refused_with_advice(environ: dict[str, str], header: str | None) -> None:
    with pytest.raises(InvalidApiKey) as refused:
        bridge_with(environ).admit(header)
    assert refusal(refused.value) == BridgeAnswer(
        401,
        {
            "error": "unauthorized",
            "detail": 'send the configured token as "Authorization: Bearer <token>"',
        },
        {"WWW-Authenticate": "Bearer"},
    )


def test_a_token_beyond_ascii_is_compared_and_not_a_crash(environ: dict[str, str]) -> None:
    with pytest.raises(InvalidApiKey):
        bridge_with(environ).admit("Bearer pässword\udc80")


@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer x"])
def test_without_a_configured_token_nobody_gets_in(header: str | None) -> None:
    with pytest.raises(InvalidApiKey) as refused:
        bridge_with({}).admit(header)
    assert "set API_BEARER_TOKEN" in refused.value.extra["detail"]


async def test_health_tells_whether_a_run_is_on_its_way(environ: dict[str, str]) -> None:
    seams = seams_with(environ | {"MAX_CONCURRENCY": "3"})
    counts = {"active": 0, "queued": 0, "capacity": 3}
    health = {"status": "ok", "busy": False, **counts}
    assert bridge_of(seams).health() == BridgeAnswer(200, health)
    async with seams.lock:
        assert bridge_of(seams).health() == BridgeAnswer(200, health | {"busy": True})


async def test_the_answer_of_the_cli_is_the_answer(environ: dict[str, str]) -> None:
    seams = seams_with(environ)
    answered = await answer(bridge_of(seams))
    assert answered.status == 200
    assert answered.body["model"] == "haiku"
    assert answered.body["choices"][0]["message"]["content"] == "Hello."
    assert answered.body["hermes"]["git_sync"] is None
    assert not seams.lock.locked()


async def test_a_missing_workspace_is_made_for_us_alone(environ: dict[str, str]) -> None:
    await answer(bridge_with(environ))
    assert Path(environ["WORKSPACE_DIR"]).stat().st_mode & 0o777 == 0o700


async def test_a_workspace_that_cannot_be_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seams = seams_with(environ | {"WORKSPACE_DIR": str(tmp_path / "file")})
    assert "WORKSPACE_DIR" in await detail_of_failure(seams)


async def test_a_home_that_cannot_be_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seams = seams_with(environ | {"HERMES_HOME": str(tmp_path / "file")})
    assert "HERMES_HOME" in await detail_of_failure(seams)


async def test_a_stale_workspace_is_told_to_caller_and_log(
    environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def sync() -> SyncReport:
        return SyncReport(SyncStatus.UNREACHABLE, "cannot reach https://open-sesame@host")

    with caplog.at_level(logging.WARNING):
        answered = await answer(bridge_with(environ, sync=sync))
    assert answered.body["hermes"]["git_sync"] == "unreachable"
    assert "unreachable" in caplog.text
    assert "open-sesame" not in caplog.text


async def test_who_comes_second_is_told_at_once_and_nothing_runs(environ: dict[str, str]) -> None:
    synced: list[str] = []

    async def sync() -> None:
        synced.append("ran")

    seams = seams_with(environ, sync=sync)
    async with seams.lock:
        with pytest.raises(Unavailable) as failed:
            await answer(bridge_of(seams))
    assert "busy" in failed.value.extra["detail"]
    assert failed.value.headers == {"Retry-After": "5"}
    assert synced == []


async def test_a_wrong_request_is_refused_even_while_busy(environ: dict[str, str]) -> None:
    seams = seams_with(environ)
    async with seams.lock:
        with pytest.raises(InvalidRequest):
            await answer(bridge_of(seams), b"{}")


async def test_a_cli_that_is_not_installed_comes_with_instructions(
    environ: dict[str, str],
) -> None:
    detail = await detail_of_failure(seams_with(environ | {"CLAUDE_COMMAND": "no-such-claude"}))
    assert "no-such-claude was not found" in detail
    assert "npm install" in detail
    assert "CLAUDE_COMMAND" in detail


async def test_a_setting_that_is_not_allowed_is_named(environ: dict[str, str]) -> None:
    seams = seams_with(environ | {"BRIDGE_TIMEOUT_SECONDS": "soon"})
    assert "BRIDGE_TIMEOUT_SECONDS" in await detail_of_failure(seams)


async def test_an_error_of_the_cli_is_told_without_its_secrets(environ: dict[str, str]) -> None:
    failed = {"type": "result", "is_error": True, "result": "401 for sk-ant-secret-key"}
    environ |= {"ANTHROPIC_API_KEY": "sk-ant-secret-key", "CLAUDE_PRINTED": json.dumps(failed)}
    assert await detail_of_failure(seams_with(environ)) == "401 for ***"


async def test_of_a_long_complaint_the_end_is_shown(environ: dict[str, str]) -> None:
    failed = {"type": "result", "is_error": True, "result": "x" * 5000 + "the point"}
    environ |= {"CLAUDE_PRINTED": json.dumps(failed)}
    detail = await detail_of_failure(seams_with(environ))
    assert detail.endswith("the point")
    assert len(detail) == answers.DETAIL_LIMIT


async def settled(bridge: Bridge, job_id: str) -> dict[str, Any]:
    """The record of a job that has ended."""
    async with asyncio.timeout(30):
        while (found := bridge.job(job_id).body)["status"] in ("queued", "running"):
            await asyncio.sleep(0.01)
    return found


async def test_a_job_is_done_after_its_request_was_answered(environ: dict[str, str]) -> None:
    cost = {"total_cost_usd": 0.25, "usage": {"output_tokens": 7}}
    printed = {"type": "result", "result": "Hello.", "session_id": "s-1", **cost}
    seams = seams_with(environ | {"CLAUDE_PRINTED": json.dumps(printed)})
    bridge = bridge_of(seams)
    body = {"prompt": "hi", "model": "opus", "agent": "triage", "metadata": {"ticket": 7}}
    accepted = await bridge.execute(json.dumps(body).encode())
    assert accepted.status == 202
    assert accepted.body["status"] == "running"
    assert seams.lock.locked()
    job = await settled(bridge, accepted.body["job_id"])
    expected = {
        "status": "completed",
        "prompt": "hi",
        "model": "opus",
        "agent": "triage",
        "metadata": {"ticket": 7},
        "exit_code": 0,
        "result": "Hello.",
        "output": [json.dumps(printed)],
        "stderr": "",
        "error": None,
        "cost_usd": 0.25,
        "session_id": "s-1",
    }
    assert {name: job[name] for name in expected} == expected
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    assert not seams.lock.locked()


async def test_a_job_that_fails_is_told_with_all_that_is_known(environ: dict[str, str]) -> None:
    script = "import sys; print('half'); sys.exit('the disk is on fire at open-sesame')"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"
    bridge = bridge_with(environ | {"CLAUDE_COMMAND": command})
    job = await settled(bridge, (await bridge.execute(JOB)).body["job_id"])
    assert job["status"] == "failed"
    assert job["exit_code"] == 1
    assert job["output"] == ["half"]
    assert "the disk is on fire at ***" in job["error"]
    assert "open-sesame" not in json.dumps(job)


async def test_a_job_that_cannot_be_run_is_an_error(environ: dict[str, str]) -> None:
    bridge = bridge_with(environ | {"CLAUDE_COMMAND": "no-such-claude"})
    job = await settled(bridge, (await bridge.execute(JOB)).body["job_id"])
    assert job["status"] == "error"
    assert "no-such-claude was not found" in job["error"]
    assert "exit_code" not in job


async def test_a_fault_of_our_own_ends_the_job_and_frees_its_place(
    environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def broken_sync() -> None:
        raise RuntimeError("private detail")

    bridge = bridge_with(environ, sync=broken_sync)
    job = await settled(bridge, (await bridge.execute(JOB)).body["job_id"])
    assert job["status"] == "error"
    assert "private detail" not in job["error"]
    assert "private detail" in caplog.text
    assert bridge.health().body["busy"] is False


async def refused_job(bridge: Bridge) -> BridgeAnswer:
    with pytest.raises(ApiError) as refused:
        await bridge.execute(JOB)
    return refusal(refused.value)


@pytest.fixture
def patient(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment whose CLI waits until the file `go` is there."""
    script = (
        "import pathlib, sys, time\n"
        "while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)\n"
        "print('gone')"
    )
    words = (sys.executable, "-c", script, str(tmp_path / "go"))
    return environ | {"CLAUDE_COMMAND": shlex.join(words)}


async def test_without_a_queue_a_second_job_is_refused_at_once(patient: dict[str, str]) -> None:
    bridge = bridge_with(patient)
    job_id = (await bridge.execute(JOB)).body["job_id"]
    refused = await refused_job(bridge)
    assert (refused.status, refused.body["error"]) == (409, "agent is busy")
    with pytest.raises(Unavailable):
        await answer(bridge)
    await bridge.close()
    assert bridge.job(job_id).body["status"] == "error"


async def test_with_a_queue_jobs_run_in_turn_and_the_last_is_refused(
    patient: dict[str, str], tmp_path: Path
) -> None:
    bridge = bridge_with(patient | {"MAX_CONCURRENCY": "2", "MAX_QUEUE_DEPTH": "1"})
    first, second, third = [(await bridge.execute(JOB)).body for _ in range(3)]
    assert [first["status"], second["status"], third["status"]] == ["running", "running", "queued"]
    told = {"busy": True, "active": 2, "queued": 1, "capacity": 2}
    assert bridge.health().body.items() >= told.items()
    refused = await refused_job(bridge)
    assert (refused.status, refused.body["error"]) == (429, "too many jobs")
    assert int(refused.headers["Retry-After"]) > 0
    (tmp_path / "go").touch()
    for job in (first, second, third):
        assert (await settled(bridge, job["job_id"]))["status"] == "completed"
    assert bridge.health().body.items() >= {"busy": False, "active": 0, "queued": 0}.items()


async def test_whose_turn_does_not_come_is_told(patient: dict[str, str]) -> None:
    environ = patient | {"MAX_QUEUE_DEPTH": "2", "QUEUE_TIMEOUT_SECONDS": "0.05"}
    bridge = bridge_with(environ)
    await bridge.execute(JOB)
    waiting = (await bridge.execute(JOB)).body["job_id"]
    with pytest.raises(Unavailable) as refused:
        await answer(bridge)
    assert "QUEUE_TIMEOUT_SECONDS" in refused.value.extra["detail"]
    job = await settled(bridge, waiting)
    assert job["status"] == "error"
    assert "QUEUE_TIMEOUT_SECONDS" in job["error"]
    await bridge.close()


async def test_an_unknown_job_is_not_found(environ: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        bridge_with(environ).job("job_1")
    assert refusal(refused.value).status == 404


async def test_whoever_stops_the_bridge_ends_its_jobs(
    patient: dict[str, str], tmp_path: Path
) -> None:
    bridge = bridge_with(patient | {"MAX_QUEUE_DEPTH": "1"})
    running = (await bridge.execute(JOB)).body["job_id"]
    waiting = (await bridge.execute(JOB)).body["job_id"]
    await bridge.close()
    for job_id in (running, waiting):
        job = bridge.job(job_id).body
        assert (job["status"], job["error"]) == (
            "error",
            "the bridge was stopped before the job was done",
        )
    assert bridge.health().body.items() >= {"busy": False, "active": 0, "queued": 0}.items()
