"""What each ACP agent gets for one job: arguments, environment and settings files. Pure.

The settings keep an agent to its profile, and from obeying what a checkout brings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes.backends.jobs import Endpoint, Places, Setup
from hermes.core.cli_agents import Profile

_READING = ["read_file", "list_directory", "glob", "grep_search"]
_WRITING = ["write_file", "replace", "run_shell_command"]
_NOTHING = ["none"]
"""An empty list of tools means all of them; one that does not exist means none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What an agent gets for one job."""

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[Path, bytes] = field(default_factory=dict, repr=False)


def plain(setup: Setup, places: Places, endpoint: Endpoint | None) -> Preparation:
    return Preparation()


def opencode(setup: Setup, places: Places, endpoint: Endpoint | None) -> Preparation:
    settings: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "permission": {"*": "allow" if setup.profile is Profile.FULL else "deny"},
        **({} if setup.profile is Profile.FULL else {"tools": {"*": False}}),
        **_opencode_model(setup, endpoint),
    }
    environment = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    }
    # By file, and not by environment: every command that it runs would have the key in its own.
    file = places.home / ".config" / "opencode" / "opencode.json"
    return Preparation(environment=environment, files={file: _json(settings)})


def _opencode_model(setup: Setup, endpoint: Endpoint | None) -> dict[str, Any]:
    """Without `model` and `enabled_providers` it would use what its makers host."""
    if endpoint is None:
        return {"model": setup.model, "small_model": setup.model} if setup.model else {}
    model = setup.model or "default"
    modalities = {"input": ["text", "image"], "output": ["text"]}
    provider = {
        # The gateway's own endpoint speaks Responses; elsewhere chat completions are spoken.
        "npm": "@ai-sdk/openai" if endpoint.is_relay else "@ai-sdk/openai-compatible",
        "name": "Hermes",
        "options": {"baseURL": _v1(endpoint), "apiKey": endpoint.key},
        "models": {model: {"attachment": True, "modalities": modalities}},
    }
    named = f"hermes/{model}"
    return {
        "model": named,
        "small_model": named,
        "enabled_providers": ["hermes"],
        "provider": {"hermes": provider},
    }


def gemini(setup: Setup, places: Places, endpoint: Endpoint | None) -> Preparation:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "tools": _tools(setup.profile),
        # In a folder that nobody trusts it obeys nothing of what lies there.
        "security": {"folderTrust": {"enabled": True}},
    }
    environment = {"GEMINI_CLI_NO_RELAUNCH": "true"}
    if endpoint:
        environment["GOOGLE_GEMINI_BASE_URL"] = endpoint.base_url.rstrip("/")
        environment["GEMINI_API_KEY"] = endpoint.key
    return Preparation(
        arguments=("-m", setup.model) if setup.model else (),
        environment=environment,
        files={places.home / ".gemini" / "settings.json": _json(settings)},
    )


def qwen(setup: Setup, places: Places, endpoint: Endpoint | None) -> Preparation:
    excluded = ["tool_search", "agent", "task_stop", "send_message", "skill"]
    excluded += ["ask_user_question", "exit_plan_mode"]
    tools = _tools(setup.profile)
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
        "tools": {**tools, "exclude": excluded} if tools else {},
        "security": {"folderTrust": {"enabled": True}, **_qwen_login(endpoint)},
    }
    # To it a folder that nobody has heard of is trusted.
    trust = places.home / ".qwen" / "trustedFolders.json"
    folders = (places.workspace, places.workspace.resolve(), places.scratch)
    distrusted = {str(folder): "DO_NOT_TRUST" for folder in folders}
    environment = {"QWEN_CODE_TRUSTED_FOLDERS_PATH": str(trust)}
    arguments = ("-m", setup.model) if setup.model else ()
    own = {places.home / ".qwen" / "settings.json": _json(settings), trust: _json(distrusted)}
    return Preparation(arguments=arguments, environment=environment, files=own)


def _qwen_login(endpoint: Endpoint | None) -> dict[str, Any]:
    """By file, as the key of opencode."""
    if endpoint is None:
        return {}
    login = {"selectedType": "openai", "apiKey": endpoint.key, "baseUrl": _v1(endpoint)}
    return {"auth": login}


def goose(setup: Setup, places: Places, endpoint: Endpoint | None) -> Preparation:
    environment = {"GOOSE_MODE": "auto"}
    if setup.model:
        environment["GOOSE_MODEL"] = setup.model
    if endpoint:
        environment["GOOSE_PROVIDER"] = "openai"
        environment["OPENAI_HOST"] = endpoint.base_url.rstrip("/")
        environment["OPENAI_API_KEY"] = endpoint.key
    return Preparation(environment=environment)


def _tools(profile: Profile) -> dict[str, Any]:
    """The settings for the tools of gemini, and of qwen, which comes from it."""
    match profile:
        case Profile.CHAT:
            return {"core": _NOTHING}
        case Profile.READ_ONLY:
            return {"core": _READING}
        case Profile.EDIT:
            return {"core": [*_READING, *_WRITING]}
        case Profile.FULL:
            return {}


def _v1(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url.rstrip('/')}/v1"


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
