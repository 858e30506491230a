"""The section `cli.agents` of config.yaml: CLI agents whose models clients may ask for, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hermes.core.cli_agents import Profile
from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.cli_settings import (
    CliAgentSettings,
    CliClocks,
    CliWorkspaceSettings,
    DeclaredCli,
)
from hermes.settings.config_yaml import PREFIX
from hermes.settings.kinds import Kind
from hermes.settings.named_sections import read_fields, sections_of
from hermes.settings.words import Words, kind_of

AGENTS = "cli.agents"

DRIVERS = MappingProxyType(
    {
        "claude": "claude",
        "codex": "codex",
        "opencode": "acp",
        "gemini": "acp",
        "qwen": "acp",
        "goose": "acp",
    }
)
"""The driver of an agent whose name or program is one of these, unless it says otherwise."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_SECONDS = kinds.seconds(0.1, 604_800)

_OWN: Mapping[str, Kind] = {
    "driver": kinds.one_of("claude", "codex", "acp", "command"),
    "command": kinds.COMMAND,
    "models": kinds.PATTERNS,
    "default_model": kinds.LINE,
    "profile": kinds.member_of(Profile),
    "transport": kinds.one_of("auto", "one-shot"),
    "base_url": kinds.URL,
    "api_key": kinds.KEY,
    "relay": kinds.one_of("auto", "always", "never"),
    "login": kinds.YES_OR_NO,
    "environment": kinds.VARIABLES,
    "max_running": kinds.whole_number(1, 1000),
    "warm": kinds.whole_number(0, 100),
}
_WORKSPACE: Mapping[str, Kind] = {
    "workspace": kinds.one_of("none", "clone", "worktree", "shared"),
    "repository": kinds.FOLDER,
    "branch": kinds.LINE,
    "sync": kinds.YES_OR_NO,
    "sync_failure": kinds.one_of("fail", "warn"),
    "commit": kinds.YES_OR_NO,
    "push": kinds.YES_OR_NO,
}
_CLOCKS: Mapping[str, Kind] = {
    "start_seconds": _SECONDS,
    "idle_seconds": _SECONDS,
    "total_seconds": _SECONDS,
    "final_seconds": _SECONDS,
}
_DECLARED: Mapping[str, Kind] = {
    "arguments": kinds.ARGUMENTS,
    "output": kinds.one_of("text", "json", "jsonl", "claude"),
    "prompt_by": kinds.one_of("stdin", "argument"),
    "model_flag": kinds.LINE,
    "system_prompt_flag": kinds.LINE,
    "session_flag": kinds.LINE,
    "resume_flag": kinds.LINE,
    "text_field": kinds.LINE,
    "session_field": kinds.LINE,
    "error_field": kinds.LINE,
    "input_tokens_field": kinds.LINE,
    "output_tokens_field": kinds.LINE,
    "cost_field": kinds.LINE,
}

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {**_OWN, "api_key_env": kinds.VARIABLE, **_WORKSPACE, **_CLOCKS, **_DECLARED}
)
"""What may be said of an agent."""


def read_agents(
    said: object, environ: Mapping[str, str], home: Path
) -> tuple[CliAgentSettings, ...]:
    """The agents in the order of the section; a repository is relative to `home`."""
    sections = said.items() if isinstance(said, Mapping) else ()
    return tuple(_agent(name, each, environ, home) for name, each in sections)


def with_served(
    agents: tuple[CliAgentSettings, ...], command: tuple[str, ...]
) -> tuple[tuple[CliAgentSettings, ...], str]:
    """The agents with the one of `hermes serve -- <command>`, and its name.

    An agent that is configured under the program's name keeps its settings.
    """
    name = Path(command[0]).name
    if not _NAME.fullmatch(name):
        raise SettingsError("--", command[0], "the name or path of a CLI agent, such as claude")
    if any(agent.name == name for agent in agents):
        changed = (replace(each, command=command) if each.name == name else each for each in agents)
        return tuple(changed), name
    return (*agents, CliAgentSettings(name=name, driver=_driver_of(name), command=command)), name


def agent_key_holders(said: object) -> set[str]:
    """The variables that hold the agents' keys. The section need not be valid."""
    named = (each.get("api_key_env") for each in sections_of(said))
    return {name.strip() for name in named if isinstance(name, str)}


def agents_hold_keys(said: object) -> bool:
    return any(each.get("api_key") for each in sections_of(said))


def _agent(name: Any, said: Any, environ: Mapping[str, str], home: Path) -> CliAgentSettings:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingsError(
            PREFIX + AGENTS,
            Words(f"an agent named {str(name)[:60]!r}"),
            "names of up to 40 letters, digits, dots, - and _, because its models are called "
            "<name>/<model>",
        )
    source = f"{PREFIX}{AGENTS}.{name}"
    if said is not None and not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(FIELDS))
    values = read_fields(said or {}, FIELDS, source)
    values.setdefault("command", (name,))
    values.setdefault("driver", _driver_of(Path(values["command"][0]).name, name))
    return CliAgentSettings(
        name=name,
        **_taken(values, _OWN),
        **_key(values, environ, source),
        workspace=_workspace(values, home, source),
        clocks=CliClocks(**_taken(values, _CLOCKS)),
        declared=DeclaredCli(**_declared(values, source)),
    )


def _taken(values: Mapping[str, Any], fields: Mapping[str, Kind]) -> dict[str, Any]:
    return {field: values[field] for field in fields if field in values}


def _driver_of(*names: str) -> Any:
    return next((DRIVERS[name] for name in names if name in DRIVERS), "command")


def _key(values: Mapping[str, Any], environ: Mapping[str, str], source: str) -> dict[str, Any]:
    holder = values.get("api_key_env")
    if holder is None:
        return {}
    if "api_key" in values:
        raise SettingsError(source, Words("both api_key and api_key_env"), "one of the two")
    key = environ.get(holder, "").strip()
    if not key:
        # Without the name: a key pasted in its place would end up in the error.
        raise SettingsError(
            f"{source}.api_key_env", Words("a variable that is not set"), "one that is"
        )
    return {"api_key": key}


def _workspace(values: Mapping[str, Any], home: Path, source: str) -> CliWorkspaceSettings:
    found = _taken(values, _WORKSPACE)
    mode = found.pop("workspace", "none")
    if (mode == "none") == ("repository" in found):
        problem = "no repository" if mode != "none" else "a repository"
        raise SettingsError(
            source,
            Words(f"workspace: {mode} with {problem}"),
            "`repository` with the workspaces clone, worktree and shared, and only with them",
        )
    if "repository" in found:
        found["repository"] = home / found["repository"]
    return CliWorkspaceSettings(mode=mode, **found)


def _declared(values: Mapping[str, Any], source: str) -> dict[str, Any]:
    found = _taken(values, _DECLARED)
    if found and values["driver"] != "command":
        strange = next(iter(found))
        raise SettingsError(
            f"{source}.{strange}",
            Words(f"it beside driver: {values['driver']}"),
            "an agent with driver: command, or no such line",
        )
    return found
