"""`hermes doctor`: examines the installation, one thing after another, and says what to fix."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import click

from hermes.core.errors import SettingsError
from hermes.settings import paths
from hermes.settings.loading import load_settings
from hermes.settings.model import Settings
from hermes.settings.redaction import mask
from hermes.tools.sandbox import PROGRAM, problem_with
from hermes_cli import (
    doctor_cli,
    doctor_home,
    doctor_listener,
    doctor_machine,
    doctor_mcp,
    doctor_provider,
    doctor_runs,
    doctor_sandbox,
    doctor_skills,
    doctor_web,
)
from hermes_cli.cli_agents_found import configured_agents
from hermes_cli.doctor_finding import Finding, Level, ok, problem, warning
from hermes_cli.terminal_style import Style, accept_any_text, readable, style_for


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Find out what keeps the gateway from working, and how to fix it.

    Asks the configured provider once, with its key. Exits with 1 when there is a problem.
    """
    accept_any_text(sys.stdout)
    findings = []
    style = style_for(os.environ, sys.stdout)
    for finding in examine(os.environ):
        findings.append(finding)
        if not as_json:
            click.echo(line_for(finding, style), color=True)
    has_problem = any(finding.level is Level.PROBLEM for finding in findings)
    if as_json:
        click.echo(_json(findings, is_healthy=not has_problem))
    else:
        click.echo(_summary(findings))
    if has_problem:
        sys.exit(1)


def examine(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Every finding, as soon as it is made; no secret is in any of them."""
    home = paths.home(environ)
    yield from _machine()
    yield from _folders(home)
    try:
        settings = load_settings(environ=environ)
    except SettingsError as error:
        yield problem("Settings", str(error), "correct it; until then nothing can start")
        return
    for finding in _configured(settings):
        yield replace(
            finding,
            detail=mask(finding.detail, settings.secrets),
            fix=mask(finding.fix, settings.secrets),
        )


def _machine() -> Iterator[Finding]:
    yield doctor_machine.python_version(sys.version_info[:3])
    yield doctor_machine.shell(shutil.which)
    yield doctor_machine.ripgrep(shutil.which)
    yield doctor_machine.sqlite_search(has_index=doctor_machine.can_search())
    yield from doctor_machine.extras(doctor_machine.has_module)


def _folders(home: Path) -> Iterator[Finding]:
    yield doctor_home.home_folder(home)
    yield doctor_home.disk_space(home)
    yield doctor_home.database("Sessions", paths.state_db(home))
    yield doctor_home.database("Responses", paths.response_db(home))
    yield doctor_home.database("Stored chats", paths.chat_db(home))
    yield doctor_home.database("Run log", paths.run_db(home))
    yield doctor_home.database("Memories", paths.memory_db(home))


def _configured(settings: Settings) -> Iterator[Finding]:
    """What can only be examined once the settings are known to be valid."""
    yield _settings(settings)
    yield from map(_settings_warning, settings.warnings)
    yield doctor_home.workspace(settings.agent.workspace)
    yield doctor_sandbox.sandbox(settings.tools, lambda: problem_with(shutil.which(PROGRAM)))
    yield from doctor_skills.skills(settings.home, settings.agent.workspace)
    transport = doctor_machine.sdk_transport(settings, doctor_machine.has_module)
    if transport is not None:
        yield transport
    yield from doctor_provider.provider(settings.agent.provider)
    for fallback in settings.agent.fallbacks:
        yield from doctor_provider.provider(fallback, "Fallback provider")
    yield doctor_web.search(settings.web)
    yield from doctor_mcp.servers(settings)
    yield from doctor_cli.agents(configured_agents(settings.cli), is_root=os.geteuid() == 0)
    yield doctor_runs.limits(settings.runs)
    yield doctor_runs.approvals(settings.approvals)
    yield doctor_listener.address(settings.listener)
    yield doctor_listener.key(settings.listener)
    yield doctor_listener.port(settings.listener, settings.home)


def _settings(settings: Settings) -> Finding:
    path = paths.config_file(settings.home)
    if not path.exists():
        return ok("Settings", "valid; from the environment, as there is no config.yaml")
    privacy = "yours alone" if paths.is_private(path) else "readable by other users"
    return ok("Settings", f"{path} is valid, and {privacy}")


def _settings_warning(text: str) -> Finding:
    """The settings' warnings say what is the matter, then what to do about it."""
    detail, _, fix = text.partition("; ")
    return warning("Settings", detail, fix)


def line_for(finding: Finding, style: Style) -> str:
    """One finding as a line, with the fix below it."""
    mark = {
        Level.OK: style.green("✓"),
        Level.WARNING: style.yellow("!"),
        Level.PROBLEM: style.red("✗"),
    }[finding.level]
    line = f"{mark} {style.bold(finding.title)}: {readable(finding.detail)}"
    return line if not finding.fix else f"{line}\n    {style.dim('→ ' + readable(finding.fix))}"


def _summary(findings: list[Finding]) -> str:
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    warnings = sum(finding.level is Level.WARNING for finding in findings)
    if problems:
        return f"\n{_count(problems, 'problem')} to fix before everything works."
    if warnings:
        return f"\nEverything works; {_count(warnings, 'thing')} to know about."
    return "\nEverything works."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _json(findings: list[Finding], *, is_healthy: bool) -> str:
    listed = [
        {
            "level": finding.level.value,
            "title": finding.title,
            "detail": finding.detail,
            "fix": finding.fix,
        }
        for finding in findings
    ]
    return json.dumps({"healthy": is_healthy, "findings": listed}, indent=2, ensure_ascii=False)
