"""A gateway in this process: its adapter from the settings, from recovery to the last signal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from gateway.config import PlatformConfig
from gateway.platforms.api_server import APIServerAdapter
from gateway.status import write_runtime_status
from hermes.providers.demo.workspace import furnish
from hermes.server.process import Service
from hermes.server.process import serve as serve_until_signal
from hermes.settings.api_server import as_extra
from hermes.settings.model import Settings
from hermes.settings.paths import (
    chat_db,
    ensure_private_dir,
    files_folder,
    response_db,
    run_db,
)


async def run_gateway(
    settings: Settings,
    on_ready: Callable[[str, str], None],
    on_end: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal. `on_ready` is told the URL and the name of the model, once.

    `on_end` is called when the end begins, before anything is closed.

    Whoever calls this holds the lock of the home.
    """
    _furnish(settings)
    adapter = APIServerAdapter(
        PlatformConfig(
            enabled=True,
            extra={
                **as_extra(settings.listener),
                "response_db": response_db(settings.home),
                "chat_db": chat_db(settings.home),
                "run_db": run_db(settings.home),
                "agent_threads": settings.agent.threads,
                "runs": settings.runs,
            },
        )
    )

    # The home is locked: what is in progress now was left behind by a process that died.
    await adapter.recover()
    adapter.keep_runs()
    adapter.start_equipment()
    if files_folder(settings.home).exists():
        # Opening them removes what has expired meanwhile.
        await asyncio.to_thread(adapter.seams.uploads)

    def ready(url: str) -> None:
        adapter.listens_at(_from_here(url))
        on_ready(url, adapter.seams.model_name())

    async def report(state: str, turns: int) -> None:
        if state == "draining":
            on_end()
        await asyncio.to_thread(_write_status, state, turns)

    await serve_until_signal(
        Service(
            application=adapter.application(),
            listener=settings.listener,
            running=adapter.running,
            on_ready=ready,
            report=report,
            close=adapter.close,
            stalled_write_seconds=settings.runs.stalled_write_seconds,
        )
    )


def _write_status(state: str, turns: int) -> None:
    write_runtime_status(
        gateway_state=state,
        active_agents=turns,
        pid=os.getpid(),
        platforms={"api_server": {"state": "connected" if state == "running" else state}},
        exit_reason="signal" if state == "stopped" else None,
    )


def _from_here(url: str) -> str:
    """The address of a listener that listens everywhere, for a process on this machine."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _furnish(settings: Settings) -> None:
    workspace = ensure_private_dir(settings.agent.workspace)
    if settings.agent.provider.provider == "demo":
        furnish(workspace)
