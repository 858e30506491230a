"""`hermes serve`: the gateway process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

import click

import gateway.run
from gateway.config import PlatformConfig
from gateway.platforms.api_server import APIServerAdapter
from gateway.status import write_runtime_status
from hermes.core.errors import SettingsError
from hermes.providers.demo.workspace import furnish
from hermes.server.loops import new_event_loop, spare_the_collector
from hermes.server.process import Service
from hermes.server.process import serve as serve_until_signal
from hermes.settings.api_server import as_extra
from hermes.settings.home_lock import HomeLock
from hermes.settings.logs import configure_logging
from hermes.settings.model import Settings
from hermes.settings.paths import (
    chat_db,
    ensure_private_dir,
    files_folder,
    lock_file,
    response_db,
    run_db,
)
from hermes.settings.secrecy import hide_process_environment
from hermes.tools.registry import Registry


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on; 0 picks a free one.  [default: 8642]")
@click.option(
    "--key",
    help="Key that clients must send. Visible to other users in the process "
    "list; API_SERVER_KEY is not.",
)
@click.option("--model", help="The provider's model to use, like HERMES_MODEL.")
@click.option("--workspace", type=click.Path(file_okay=False), help="Folder the tools work in.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="How much is logged.  [default: info]",
)
def serve(
    host: str | None,
    port: int | None,
    key: str | None,
    model: str | None,
    workspace: str | None,
    log_level: str | None,
) -> None:
    """Serve the agent to every OpenAI client, until SIGTERM or Ctrl-C.

    Options win over environment variables, those over config.yaml in HERMES_HOME (~/.hermes).
    Without any provider configured, a built-in demo model answers.
    """
    settings = gateway.run.settings_source.pin(
        {
            "listener.host": host,
            "listener.port": port,
            "listener.key": key,
            "agent.model": model,
            "agent.workspace": workspace,
            "log.level": log_level,
        }
    )
    _refuse_open_door(settings)
    Registry.builtin().select(settings.agent.toolsets)  # an unknown name is better refused now
    configure_logging(settings.log, sys.stderr, secrets=settings.secrets)
    hide_process_environment()
    ensure_private_dir(settings.home)
    with HomeLock(lock_file(settings.home)) as lock:
        _furnish(settings)
        spare_the_collector()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_serve(settings, lock.announce))


async def _serve(settings: Settings, announce: Callable[[str], None]) -> None:
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

    def on_ready(url: str) -> None:
        announce(url)
        click.echo(banner(settings, url, adapter.seams.model_name()))

    async def report(state: str, turns: int) -> None:
        await asyncio.to_thread(_write_status, state, turns)

    await serve_until_signal(
        Service(
            application=adapter.application(),
            listener=settings.listener,
            running=adapter.running,
            on_ready=on_ready,
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


def _refuse_open_door(settings: Settings) -> None:
    listener = settings.listener
    if not listener.is_loopback and not listener.requires_key:
        raise SettingsError(
            "server.host",
            listener.host,
            "127.0.0.1 or another loopback address while no key is set, because everybody on the "
            "network could run commands on this machine. Set API_SERVER_KEY (or server.key) to "
            "listen elsewhere",
        )


def _furnish(settings: Settings) -> None:
    workspace = ensure_private_dir(settings.agent.workspace)
    if settings.agent.provider.provider == "demo":
        furnish(workspace)


def banner(settings: Settings, url: str, model_name: str) -> str:
    """What a person needs to know to make the first request."""
    provider = settings.agent.provider
    thinks_with = f"{provider.model} at {provider.base_url}"
    if provider.provider == "demo":
        thinks_with = "built-in demo model; set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one"
    facts = {
        "Base URL": f"{url}/v1",
        "Key": "required" if settings.listener.requires_key else "not required",
        "Model": f"{model_name} ({thinks_with})",
        "Workspace": str(settings.agent.workspace),
    }
    lines = [f"  {name + ':':<11}{value}" for name, value in facts.items()]
    warnings = [f"  Warning:   {warning}" for warning in settings.warnings]
    return "\n".join(
        ["Hermes Gateway is ready.", "", *lines, *warnings, "", *_try_it(settings, url, model_name)]
    )


def _try_it(settings: Settings, url: str, model_name: str) -> list[str]:
    key = (
        ['    -H "Authorization: Bearer $API_SERVER_KEY" \\']
        if settings.listener.requires_key
        else []
    )
    return [
        "Try it:",
        f"  curl -N {url}/v1/chat/completions \\",
        '    -H "Content-Type: application/json" \\',
        *key,
        f'    -d \'{{"model": "{model_name}", "stream": true,',
        '         "messages": [{"role": "user", "content": "What files are there?"}]}\'',
        "",
    ]
