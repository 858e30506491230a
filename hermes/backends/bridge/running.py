"""One run of the CLI for the bridge: the folder, the sync, the process, and what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.backends import environment
from hermes.backends.bridge.claude import BridgePeer, Errand, arguments
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.places import placed, until_done
from hermes.backends.bridge.settings import BridgeSettings
from hermes.backends.errors import CommandMissing
from hermes.backends.jobs import Places, Plan, Question
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.launch import Launch
from hermes.backends.saying import Ending, Event, StopReason
from hermes.backends.workspaces.reports import SyncReport
from hermes.settings.cli_settings import CliClocks
from hermes.settings.redaction import names_a_secret

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """Everything an embedder may replace."""

    environ: Mapping[str, str] = field(repr=False)
    """Where settings and the CLI's login come from."""
    token: str = field(repr=False)
    """What callers must send; empty: nobody is let in."""
    lock: asyncio.Lock
    """Held while no further run could begin; whoever else holds it keeps runs from beginning."""
    sync: Callable[[], Awaitable[object]]
    """Called before each run; a `SyncReport` it returns is shown in the answer."""
    spawn: Callable[..., Awaitable[Any]] | None = None
    """Starts the process, as `asyncio.create_subprocess_exec` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told what while it runs; nothing here may block or raise."""

    event: Callable[[Event], None] = lambda _event: None
    line: Callable[[bytes], None] = lambda _line: None


async def run(
    job_id: str, errand: Errand, settings: BridgeSettings, seams: Seams, listener: Listener
) -> Outcome:
    """Raises `CommandFailed`. However it ends, all that it started is gone by then."""
    async with placed(job_id, settings.workspace, seams.environ) as places:
        report = await _sync(seams)
        peer = BridgePeer(job_id, errand, listener.line)
        launch = _launch(job_id, errand, settings, seams.environ, places)
        ending = await _talk(launch, peer, errand, seams, listener)
    assert peer.exit is not None
    return Outcome(errand=errand, ending=ending, exit=peer.exit, sync=report)


async def _sync(seams: Seams) -> SyncReport | None:
    report = await seams.sync()
    if not isinstance(report, SyncReport):
        return None  # an embedder's own sync has its own way to report
    if report.is_stale:
        detail = environment.redact(report.detail, seams.environ)
        logger.warning("The workspace may be stale (%s): %s", report.status.value, detail)
    return report


def _launch(
    job_id: str,
    errand: Errand,
    settings: BridgeSettings,
    environ: Mapping[str, str],
    places: Places,
) -> Launch:
    seconds = errand.timeout_seconds
    return Launch(
        plan=Plan(argv=arguments(settings.command, errand)),
        places=places,
        environment=environment.for_claude(environ),
        mark=job_id,
        # One clock is enough for people to set: an agent may well be silent for long.
        clocks=CliClocks(start_seconds=seconds, idle_seconds=seconds, total_seconds=seconds),
        secrets=tuple(value for name, value in environ.items() if names_a_secret(name)),
    )


async def _talk(
    launch: Launch, peer: BridgePeer, errand: Errand, seams: Seams, listener: Listener
) -> Ending:
    try:
        process = await CliProcess.start(launch, peer, listener.event, spawn=seams.spawn)
    except CommandMissing as error:
        advice = "install it (npm install -g @anthropic-ai/claude-code) or set CLAUDE_COMMAND"
        raise CommandMissing(f"{error}: {advice}") from error
    try:
        process.ask(Question(text=errand.prompt))
        return await process.ended()
    except asyncio.CancelledError:
        process.stop(StopReason.ASKED)
        await until_done(asyncio.ensure_future(process.ended()))
        raise
