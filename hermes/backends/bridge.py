"""The bridge itself: who may ask, one run at a time, and the answer to each case.

Knows no web framework: a door gives it header, body and seams, and sends what comes back.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes.backends import chat, claude, environment
from hermes.backends.errors import CommandFailed, CommandMissing, TimedOut
from hermes.backends.process import Command, run
from hermes.backends.settings import BridgeSettings, read_settings, read_token
from hermes.backends.workspaces.reports import SyncReport
from hermes.core.errors import ApiError, InvalidApiKey, SettingsError, Unavailable
from hermes.core.ids import new_id

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 10 * 1024 * 1024
DETAIL_LIMIT = 2000
BUSY_RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Seams:
    """Everything an embedder may replace."""

    environ: Mapping[str, str] = field(repr=False)
    """Where settings and the CLI's login come from."""
    lock: asyncio.Lock
    """Held while a run is on its way. It is asked, never waited for: a second caller is refused."""
    sync: Callable[[], Awaitable[object]]
    """Called before each run; a `SyncReport` it returns is shown in the answer."""


@dataclass(frozen=True, slots=True)
class BridgeAnswer:
    """A status and a JSON body, for whoever speaks HTTP."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def admit(authorization: str | None, seams: Seams) -> None:
    """Raises `InvalidApiKey` unless the caller sent the configured token."""
    token = read_token(seams.environ)
    if not token:
        raise _unauthorized("no token is configured: set API_BEARER_TOKEN where the bridge runs")
    scheme, _, sent = (authorization or "").partition(" ")
    # Bytes, because the comparison refuses text beyond ASCII.
    is_right = hmac.compare_digest(sent.strip().encode(errors="replace"), token.encode())
    if scheme.lower() != "bearer" or not is_right:
        raise _unauthorized('send the configured token as "Authorization: Bearer <token>"')


def health(seams: Seams) -> BridgeAnswer:
    return BridgeAnswer(200, {"status": "ok", "busy": seams.lock.locked()})


def models() -> BridgeAnswer:
    return BridgeAnswer(200, chat.model_list())


async def answer(body: bytes, seams: Seams) -> BridgeAnswer:
    """Run the CLI for an admitted caller. Raises `ApiError`.

    When it is cancelled, the run's processes are dead before it ends.
    """
    request = chat.parse_request(body)
    if seams.lock.locked():
        retry = {"Retry-After": str(BUSY_RETRY_SECONDS)}
        raise _failed("the bridge is busy with another request; try again later", headers=retry)
    async with seams.lock:
        try:
            return await _run(request, seams)
        except (CommandFailed, SettingsError) as error:
            raise _failed(environment.redact(str(error), seams.environ)) from error


def refusal(error: ApiError) -> BridgeAnswer:
    """The bridge's errors are flat: `error` is a text, what helps stands beside it."""
    return BridgeAnswer(error.status, {"error": error.message, **error.extra}, error.headers)


async def _run(request: chat.ChatRequest, seams: Seams) -> BridgeAnswer:
    settings = read_settings(seams.environ)
    _prepare(settings.workspace)
    report = await _sync(seams)
    reply = await _ask(request, settings, seams.environ)
    if isinstance(reply, claude.Failed):
        detail = environment.redact(reply.message, seams.environ)
        logger.warning("The CLI failed: %s", detail[-DETAIL_LIMIT:])
        raise _failed(detail)
    body = chat.completion(
        reply,
        model=request.model,
        completion_id=new_id("chatcmpl-"),
        created=int(time.time()),
        sync=report,
    )
    return BridgeAnswer(200, body)


def _prepare(workspace: Path) -> None:
    try:
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        detail = f"WORKSPACE_DIR {workspace} cannot be used: {error.strerror}"
        raise CommandFailed(detail) from error


async def _sync(seams: Seams) -> SyncReport | None:
    report = await seams.sync()
    if not isinstance(report, SyncReport):
        return None  # an embedder's own sync has its own way to report
    if report.is_stale:
        detail = environment.redact(report.detail, seams.environ)
        logger.warning("The workspace may be stale (%s): %s", report.status.value, detail)
    return report


async def _ask(
    request: chat.ChatRequest, settings: BridgeSettings, environ: Mapping[str, str]
) -> claude.Reply:
    plan = claude.plan(settings.command, request.model, request.prompt)
    command = Command(
        argv=plan.argv,
        cwd=settings.workspace,
        environment=environment.for_claude(environ),
        timeout_seconds=settings.timeout_seconds,
        stdin=plan.stdin,
    )
    try:
        return claude.read_reply(await run(command))
    except CommandMissing as error:
        advice = "install it (npm install -g @anthropic-ai/claude-code) or set CLAUDE_COMMAND"
        raise CommandMissing(f"{error}: {advice}") from error
    except TimedOut as error:
        advice = "it was stopped; ask for less or raise BRIDGE_TIMEOUT_SECONDS"
        raise TimedOut(f"{error}: {advice}") from error


def _failed(detail: str, *, headers: Mapping[str, str] | None = None) -> Unavailable:
    """The end of a long detail says more than its beginning."""
    extra = {"detail": detail[-DETAIL_LIMIT:]}
    return Unavailable("execution failed", headers=headers, extra=extra)


def _unauthorized(detail: str) -> InvalidApiKey:
    headers = {"WWW-Authenticate": "Bearer"}
    return InvalidApiKey("unauthorized", headers=headers, extra={"detail": detail})
