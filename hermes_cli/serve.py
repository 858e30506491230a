"""`hermes serve`: the gateway process."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace

import click

import gateway.run
from hermes.backends.hosting.catalogue import Catalogue
from hermes.contract.hosted_models import default_name, names_of
from hermes.core.cli_agents import Readiness
from hermes.core.errors import HermesError, SettingsError
from hermes.server.loops import new_event_loop, spare_the_collector
from hermes.settings.home_lock import HomeLock
from hermes.settings.logs import configure_logging
from hermes.settings.model import Settings
from hermes.settings.paths import (
    ensure_private_dir,
    lock_file,
)
from hermes.settings.secrecy import hide_process_environment
from hermes.tools.registry import Registry
from hermes_cli.gateway_process import run_gateway


@click.command()
@click.argument("cli_agent", nargs=-1, type=click.UNPROCESSED, metavar="[-- CLI_AGENT…]")
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
    cli_agent: tuple[str, ...],
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

    With `hermes serve -- claude` (or codex, opencode, …) that CLI answers: its models are listed
    as claude/haiku, claude/sonnet and so on, and it answers requests for no model in particular.
    """
    settings = gateway.run.settings_source.pin(
        {
            "listener.host": host,
            "listener.port": port,
            "listener.key": key,
            "agent.model": model,
            "agent.workspace": workspace,
            "log.level": log_level,
            "cli.serve": cli_agent or None,
        }
    )
    _refuse_open_door(settings)
    Registry.builtin().select(settings.agent.toolsets)  # an unknown name is better refused now
    if cli_agent:
        settings = _with_examined(settings)
    configure_logging(settings.log, sys.stderr, secrets=settings.secrets)
    hide_process_environment()
    ensure_private_dir(settings.home)
    with HomeLock(lock_file(settings.home)) as lock:
        spare_the_collector()

        def on_ready(url: str, model_name: str) -> None:
            lock.announce(url)
            click.echo(banner(settings, url, model_name))

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(run_gateway(settings, on_ready))


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


def _with_examined(settings: Settings) -> Settings:
    """A CLI that was asked for by name and cannot answer is better refused now."""
    agent = settings.cli.agent(settings.cli.default or "")
    assert agent is not None, "the one that was named is the default"
    found = Catalogue(os.environ).find(agent)
    if not found.is_usable:
        raise HermesError(
            f"{agent.name} cannot be served: {found.examined.detail}; {found.examined.fix}."
        )
    if found.examined.readiness is not Readiness.LOGIN_UNKNOWN:
        return settings
    doubt = f"{agent.name}: {found.examined.detail}; {found.examined.fix}"
    return replace(settings, warnings=(*settings.warnings, doubt))


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
        **_cli_agents(settings),
        "Workspace": str(settings.agent.workspace),
    }
    width = max(map(len, facts)) + 2
    lines = [f"  {name + ':':<{width}}{value}" for name, value in facts.items()]
    warnings = [f"  {'Warning:':<{width}}{warning}" for warning in settings.warnings]
    asked = default_name(settings.cli) or model_name
    return "\n".join(
        ["Hermes Gateway is ready.", "", *lines, *warnings, "", *_try_it(settings, url, asked)]
    )


def _cli_agents(settings: Settings) -> dict[str, str]:
    names = names_of(settings.cli)
    return {"CLI agents": ", ".join(names)} if names else {}


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
