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

from hermes.backends import bridge
from hermes.backends.bridge import BridgeAnswer, Seams
from hermes.backends.workspaces.reports import SyncReport, SyncStatus
from hermes.core.errors import InvalidApiKey, InvalidRequest, Unavailable

BODY = json.dumps({"model": "haiku", "messages": [{"role": "user", "content": "hi"}]}).encode()


async def no_sync() -> object:
    return "an embedder's own report"


def seams_with(environ: dict[str, str], **changes: Any) -> Seams:
    fields: dict[str, Any] = {"environ": environ, "lock": asyncio.Lock(), "sync": no_sync}
    return Seams(**(fields | changes))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An operator's environment whose CLI prints what `CLAUDE_PRINTED` says."""
    script = "import os, sys; print(os.environ['CLAUDE_PRINTED']); sys.exit(0)"
    return {
        "PATH": os.environ["PATH"],
        "API_BEARER_TOKEN": "open-sesame",
        "WORKSPACE_DIR": str(tmp_path / "work" / "space"),
        "CLAUDE_COMMAND": f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}",
        "CLAUDE_PRINTED": json.dumps({"type": "result", "result": "Hello."}),
    }


async def detail_of_failure(seams: Seams) -> str:
    with pytest.raises(Unavailable) as failed:
        await bridge.answer(BODY, seams)
    refused = bridge.refusal(failed.value)
    assert refused.status == 503
    assert refused.body["error"] == "execution failed"
    assert not seams.lock.locked()
    return str(refused.body["detail"])


@pytest.mark.parametrize("header", ["Bearer open-sesame", "bearer  open-sesame "])
def test_the_configured_token_lets_in(environ: dict[str, str], header: str) -> None:
    bridge.admit(header, seams_with(environ))


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer wrong", "open-sesame", "Basic open-sesame"]
)
def test_anything_else_is_refused_with_advice(environ: dict[str, str], header: str | None) -> None:
    with pytest.raises(InvalidApiKey) as refused:
        bridge.admit(header, seams_with(environ))
    assert bridge.refusal(refused.value) == BridgeAnswer(
        401,
        {
            "error": "unauthorized",
            "detail": 'send the configured token as "Authorization: Bearer <token>"',
        },
        {"WWW-Authenticate": "Bearer"},
    )


def test_a_token_beyond_ascii_is_compared_and_not_a_crash(environ: dict[str, str]) -> None:
    with pytest.raises(InvalidApiKey):
        bridge.admit("Bearer pässword\udc80", seams_with(environ))


@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer x"])
def test_without_a_configured_token_nobody_gets_in(header: str | None) -> None:
    with pytest.raises(InvalidApiKey) as refused:
        bridge.admit(header, seams_with({}))
    assert "set API_BEARER_TOKEN" in refused.value.extra["detail"]


async def test_health_tells_whether_a_run_is_on_its_way(environ: dict[str, str]) -> None:
    seams = seams_with(environ)
    assert bridge.health(seams) == BridgeAnswer(200, {"status": "ok", "busy": False})
    async with seams.lock:
        assert bridge.health(seams) == BridgeAnswer(200, {"status": "ok", "busy": True})


async def test_the_answer_of_the_cli_is_the_answer(environ: dict[str, str]) -> None:
    seams = seams_with(environ)
    answered = await bridge.answer(BODY, seams)
    assert answered.status == 200
    assert answered.body["model"] == "haiku"
    assert answered.body["choices"][0]["message"]["content"] == "Hello."
    assert answered.body["hermes"]["git_sync"] is None
    assert not seams.lock.locked()


async def test_a_missing_workspace_is_made_for_us_alone(environ: dict[str, str]) -> None:
    await bridge.answer(BODY, seams_with(environ))
    assert Path(environ["WORKSPACE_DIR"]).stat().st_mode & 0o777 == 0o700


async def test_a_workspace_that_cannot_be_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seams = seams_with(environ | {"WORKSPACE_DIR": str(tmp_path / "file")})
    assert "WORKSPACE_DIR" in await detail_of_failure(seams)


async def test_a_stale_workspace_is_told_to_caller_and_log(
    environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def sync() -> SyncReport:
        return SyncReport(SyncStatus.UNREACHABLE, "cannot reach https://open-sesame@host")

    with caplog.at_level(logging.WARNING):
        answered = await bridge.answer(BODY, seams_with(environ, sync=sync))
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
            await bridge.answer(BODY, seams)
    assert "busy" in failed.value.extra["detail"]
    assert failed.value.headers == {"Retry-After": "5"}
    assert synced == []


async def test_a_wrong_request_is_refused_even_while_busy(environ: dict[str, str]) -> None:
    seams = seams_with(environ)
    async with seams.lock:
        with pytest.raises(InvalidRequest):
            await bridge.answer(b"{}", seams)


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
    assert len(detail) == bridge.DETAIL_LIMIT
