"""`hermes prompt`: what the model would be told, and how many tokens that takes. Asks nobody."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from hermes.agent.previewing import first_request
from hermes.agent.prompt import Part, prompt_parts_of
from hermes.contract.briefing import briefing_of, scope_of
from hermes.contract.configuration import (
    agent_keywords,
    fallback_model,
    reasoning_config,
    runtime_keywords,
)
from hermes.contract.equipping import Workshop
from hermes.core.errors import HermesError
from hermes.core.tokens import text_tokens
from hermes.core.turn import TurnParameters
from hermes.settings.loading import load_settings
from hermes.settings.model import AliasSettings, Settings
from hermes.settings.named_keys import MAIN, NOBODY, toolsets_of
from hermes.settings.toolsets import enabled_toolsets
from hermes_cli.terminal_style import accept_any_text, readable
from run_agent import AIAgent

PLATFORM = "api_server"
_SESSION = "hermes-prompt"


@click.command()
@click.option("--message", default="Hello.", show_default=True, help="What the user would say.")
@click.option("--system", help="What the client's system message would say.")
@click.option("--model", "alias", metavar="NAME", help="A model of `models`, not the agent.")
@click.option("--session-key", metavar="KEY", help="Like X-Hermes-Session-Key: whose memories.")
@click.option("--key-name", metavar="NAME", help="A key of `server.keys`, not the main one.")
@click.option("--workspace", type=click.Path(file_okay=False), help="Folder the tools work in.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole request, with its tools.")
def prompt(
    message: str,
    system: str | None,
    alias: str | None,
    session_key: str | None,
    key_name: str | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Print what the gateway's agent would be told before a conversation.

    Nothing is sent to anybody. The system prompt goes to stdout, or with --json the first
    request in the provider's dialect; a table of the parts and their estimated tokens goes to
    stderr. Tools of MCP servers are not among them, because no server is started.
    """
    accept_any_text(sys.stdout, sys.stderr)
    settings = load_settings(environ=os.environ, overrides={"agent.workspace": workspace})
    workshop = Workshop(lambda: settings)
    try:
        agent = AIAgent(
            **agent_keywords(
                runtime=runtime_keywords(settings.agent, settings.approvals),
                toolsets=enabled_toolsets(settings.raw, PLATFORM),
                of_key=toolsets_of(settings.listener.keys, _owner(settings, key_name)),
                model=settings.agent.provider.model,
                reasoning_config=reasoning_config(settings.agent),
                fallback_model=fallback_model(settings.agent),
                session_id=_SESSION,
                ephemeral_system_prompt=system,
                gateway_session_key=session_key,
                parameters=TurnParameters(owner=_owner(settings, key_name)),
                equipment=workshop.equipment,
                alias=_alias(settings, alias),
            )
        )
        _show(agent, message, as_json=as_json)
    finally:
        workshop.close()


def _owner(settings: Settings, key_name: str | None) -> str:
    if key_name is None:
        return MAIN if settings.listener.key else NOBODY
    known = [key.name for key in settings.listener.keys]
    if key_name not in known:
        raise HermesError(f"There is no key {key_name!r}; server.keys has: {_listed(known)}.")
    return key_name


def _alias(settings: Settings, alias: str | None) -> AliasSettings | None:
    if alias is None:
        return None
    if alias not in settings.models:
        raise HermesError(f"There is no model {alias!r}; models has: {_listed(settings.models)}.")
    return settings.models[alias]


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "none"


def _show(agent: AIAgent, message: str, *, as_json: bool) -> None:
    seams = agent._fill_turn_seams(None)  # noqa: SLF001  (the door's own state)
    request = first_request(seams, message)
    if as_json:
        click.echo(json.dumps(request, indent=2, ensure_ascii=False, default=str))
    else:
        click.echo(readable(seams.system_prompt()))
    parts = prompt_parts_of(briefing_of(agent, seams.registry, scope_of(agent)))
    tools = json.dumps(list(seams.registry.schemas()), ensure_ascii=False)
    told = [*parts, Part(f"{len(seams.registry.names())} tools", tools), Part("message", message)]
    click.echo(_table(told), err=True)


def _table(parts: Sequence[Part]) -> str:
    sizes = [(part.name, text_tokens(part.text)) for part in parts]
    rows = [*sizes, ("together", sum(tokens for _, tokens in sizes))]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {tokens:>7,}" for name, tokens in rows]
    return "\n".join([f"{'':<{width}}   tokens (estimated)", *lines])
