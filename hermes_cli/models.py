"""`hermes models`: what clients may ask for, and whether it would answer."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from hermes.contract.configuration import shown_model_name
from hermes.core.cli_agents import Readiness
from hermes.settings.loading import load_settings
from hermes.settings.model import Settings
from hermes.settings.redaction import mask
from hermes_cli.cli_agents_found import FoundAgent, configured_agents, unused_programs
from hermes_cli.profiles import get_active_profile_name
from hermes_cli.terminal_style import Style, accept_any_text, readable, style_for

_MARKS = {
    Readiness.READY: "green",
    Readiness.LOGIN_UNKNOWN: "yellow",
    Readiness.NOT_FOUND: "red",
    Readiness.MISSING_DEPENDENCY: "red",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def models(as_json: bool) -> None:
    """List the models that clients may ask for.

    CLI agents are looked for and asked for their version: each is ready, not found, missing a
    dependency, or there is no sign of a login; the line below says what to do about it.
    """
    accept_any_text(sys.stdout)
    settings = load_settings(environ=os.environ)
    found = list(configured_agents(settings.cli))
    unused = unused_programs(settings.cli)
    if as_json:
        click.echo(json.dumps(_as_json(settings, found, unused), indent=2, ensure_ascii=False))
        return
    style = style_for(os.environ, sys.stdout)
    for line in [*_own(settings, style), *_hosted(found, settings, style), *_others(unused, style)]:
        click.echo(line, color=True)


def _name(settings: Settings) -> str:
    return shown_model_name(settings.listener.model_name, get_active_profile_name)


def _own(settings: Settings, style: Style) -> list[str]:
    provider = settings.agent.provider
    lines = [f"{style.bold(_name(settings))}  {provider.model} ({provider.provider})"]
    return lines + [
        f"{style.bold(name)}  {alias.provider.model} ({alias.provider.provider})"
        for name, alias in settings.models.items()
    ]


def _hosted(found: list[FoundAgent], settings: Settings, style: Style) -> list[str]:
    lines = []
    for each in found:
        examined = each.examined
        paint = getattr(style, _MARKS[examined.readiness])
        version = f" {examined.version}" if examined.version else ""
        state = paint(examined.readiness.value)
        lines += [f"{style.bold(name)}  {each.title}{version}: {state}" for name in each.models]
        detail = mask(readable(examined.detail), settings.secrets)
        if detail:
            lines.append(f"    {detail}")
        if examined.fix:
            lines.append(f"    {style.dim('→ ' + readable(examined.fix))}")
    return lines


def _others(unused: list[str], style: Style) -> list[str]:
    return [
        style.dim(f"{name} is installed and not served; hermes serve -- {name} would serve it")
        for name in unused
    ]


def _as_json(settings: Settings, found: list[FoundAgent], unused: list[str]) -> dict[str, Any]:
    own = [{"id": _name(settings), "model": settings.agent.provider.model}]
    aliases = [
        {"id": name, "model": alias.provider.model} for name, alias in settings.models.items()
    ]
    hosted = [
        {
            "id": name,
            "cli_agent": each.agent.name,
            "status": each.examined.readiness.value,
            "version": each.examined.version,
            "detail": mask(each.examined.detail, settings.secrets),
            "fix": each.examined.fix,
        }
        for each in found
        for name in each.models
    ]
    return {"models": [*own, *aliases, *hosted], "not_served": unused}
