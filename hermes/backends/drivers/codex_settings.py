"""What Codex is told about itself for one job: sandbox, tools, provider. Pure.

It is told by `-c`, which wins over every settings file. What a checkout brings in `.codex` is not
read as long as nobody trusts the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hermes.backends.drivers.toml_values import Value, inline
from hermes.backends.jobs import Endpoint, Setup
from hermes.core.cli_agents import Profile

KEY_VARIABLE = "HERMES_PROVIDER_KEY"
"""Has KEY in its name: Codex keeps such variables from the commands it runs."""

SANDBOX = "hermes"
"""What our own permission profile is called."""

_PROVIDER = "hermes"
_MINIMAL = ":minimal"
"""What any program needs to run: /usr, /etc and the like, and no home."""

_ALWAYS: Mapping[str, Value] = {
    "analytics.enabled": False,
    "check_for_update_on_startup": False,
    "cli_auth_credentials_store": "file",
    # The job's marker has to reach every command, so that none is left behind; keys must not.
    "shell_environment_policy": {"inherit": "all", "ignore_default_excludes": False},
    "features.hooks": False,
    "features.plugins": False,
    "features.apps": False,
    "features.tool_suggest": False,
    # Sub-agents have threads of their own, which the totals of ours leave out.
    "features.multi_agent": False,
    # Without it a provider that is not there is waited for without end.
    "features.unbounded_connection_retries": False,
}

_WITHIN_THE_WORKSPACE: Mapping[str, Value] = {
    "web_search": "disabled",
    "features.image_generation": False,
}
"""Below `full`: nothing that reaches beyond the workspace."""

_WORDS_ONLY: Mapping[str, Value] = {
    "features.shell_tool": False,
    "features.unified_exec": False,
    "features.view_image": False,
    "features.goals": False,
    "features.sleep_tool": False,
    # AGENTS.md of the folder, and all else that tells of this machine.
    "project_doc_max_bytes": 0,
    "skills.bundled.enabled": False,
    "include_environment_context": False,
    "include_permissions_instructions": False,
}
"""For `chat`. Two tools cannot be switched off: `apply_patch`, to which the sandbox leaves nothing
to read or write, and `request_user_input`, which is refused without a terminal."""


def flags(
    setup: Setup, workspace: Path, endpoint: Endpoint | None, program: Path
) -> tuple[str, ...]:
    """The overrides for one job, as arguments."""
    values = overrides(setup, endpoint, program)
    # Codex trusts a folder in which it was told what it may do, and obeys what lies there; it
    # may know the folder by either name.
    names = {str(workspace), str(workspace.resolve())}
    values["projects"] = {name: {"trust_level": "untrusted"} for name in sorted(names)}
    return tuple(part for name in values for part in ("-c", f"{name}={inline(values[name])}"))


def overrides(setup: Setup, endpoint: Endpoint | None, program: Path) -> dict[str, Value]:
    values: dict[str, Value] = {**_ALWAYS, **_sandbox(setup.profile, program)}
    values["approval_policy"] = "on-request" if may_ask(setup) else "never"
    if setup.profile is not Profile.FULL:
        values |= _WITHIN_THE_WORKSPACE
    if setup.profile is Profile.CHAT:
        values |= _WORDS_ONLY
    if setup.model:
        values["model"] = setup.model
    if setup.reasoning_effort:
        values["model_reasoning_effort"] = setup.reasoning_effort
    if endpoint:
        values |= _provider(endpoint)
    return values


def may_ask(setup: Setup) -> bool:
    """Whether Codex may ask to leave its sandbox: below `edit` nobody may let it."""
    return setup.can_ask and setup.profile is Profile.EDIT


def _sandbox(profile: Profile, program: Path) -> dict[str, Value]:
    if profile is Profile.FULL:
        return {"sandbox_mode": "danger-full-access"}
    # Codex's own read-only sandbox lets commands read the whole machine: its keys, our settings.
    permissions: Value = {"filesystem": _files(profile, program), "network": {"enabled": False}}
    return {"default_permissions": SANDBOX, f"permissions.{SANDBOX}": permissions}


def _files(profile: Profile, program: Path) -> Mapping[str, Value]:
    match profile:
        case Profile.CHAT:
            return {":root": "deny"}
        case Profile.READ_ONLY:
            return {**_programs(program), ":project_roots": {".": "read"}}
        case Profile.EDIT | Profile.FULL:
            own: Mapping[str, Value] = {":project_roots": {".": "write"}, ":tmpdir": "write"}
            return {**_programs(program), **own}


def _programs(program: Path) -> Mapping[str, Value]:
    """What commands need to start. The sandbox is Codex itself, which must be there inside."""
    return {_MINIMAL: "read", str(package_folder(program)): "read"}


def package_folder(program: Path) -> Path:
    """What of the installation has to be readable: all packages beside it, or the program alone.

    The program that npm links to is a script; the real one is in another package.
    """
    parts = program.parts
    if "node_modules" not in parts:
        return program
    return Path(*parts[: parts.index("node_modules") + 1])


def _provider(endpoint: Endpoint) -> dict[str, Value]:
    # A provider of our own, because the address of the built-in one cannot be given by
    # environment, and it would try a WebSocket first.
    provider: Value = {
        "name": _PROVIDER,
        "base_url": f"{endpoint.base_url.rstrip('/')}/v1",
        "env_key": KEY_VARIABLE,
        "wire_api": "responses",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }
    return {"model_provider": _PROVIDER, f"model_providers.{_PROVIDER}": provider}
