"""The section `mcp.servers` of config.yaml: servers whose tools the agent may use, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.config_yaml import PREFIX
from hermes.settings.kinds import Kind
from hermes.settings.mcp_settings import McpServerSettings, McpSettings
from hermes.settings.named_sections import read_fields, sections_of
from hermes.settings.words import Words, kind_of

SERVERS = "mcp.servers"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,29}")
_STDIO = ("command", "args", "env", "env_names", "cwd")
_HTTP = ("url", "headers", "headers_env", "token_env")
_HOLDERS = ("env_names", "headers_env", "token_env")

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        "command": kinds.LINE,
        "args": kinds.ARGUMENTS,
        "env": kinds.VALUES,
        "env_names": kinds.VARIABLES,
        "cwd": kinds.FOLDER,
        "url": kinds.URL,
        "headers": kinds.HEADERS,
        "headers_env": kinds.HEADER_HOLDERS,
        "token_env": kinds.VARIABLE,
        "tools": kinds.PATTERNS,
        "exclude": kinds.PATTERNS,
        "enabled": kinds.YES_OR_NO,
        "approval": kinds.one_of("auto", "ask", "allow"),
        "timeout_seconds": kinds.seconds(0.1, 86_400),
        "connect_timeout_seconds": kinds.seconds(0.1, 3_600),
    }
)
"""What may be said of a server."""


def read_servers(said: object, environ: Mapping[str, str], home: Path) -> McpSettings:
    """The servers in the order of the section; a folder is relative to `home`."""
    sections = said.items() if isinstance(said, Mapping) else ()
    return McpSettings(servers=tuple(_server(name, each, environ, home) for name, each in sections))


def server_holders(said: object) -> set[str]:
    """The variables whose values the section wants. It need not be valid."""
    named: set[str] = set()
    for each in sections_of(said):
        for field in _HOLDERS:
            named |= _names_in(each.get(field))
    return named


def servers_hold_secrets(said: object) -> bool:
    return any(each.get("headers") or each.get("env") for each in sections_of(said))


def unknown_servers(toolsets: Iterable[str], servers: McpSettings) -> tuple[str, ...]:
    """A warning for each toolset that is about a server nobody has configured."""
    known = {f"mcp:{server.name}" for server in servers.servers}
    strange = (each for each in toolsets if each.startswith("mcp:") and each not in known)
    return tuple(
        f"the toolset {each} is of an MCP server that does not exist; add it to {SERVERS}, "
        "or leave the toolset out"
        for each in strange
    )


def _names_in(value: object) -> set[str]:
    if isinstance(value, str):
        return {part.strip() for part in value.split(",") if part.strip()}
    if isinstance(value, Mapping):
        return {str(each).strip() for each in value.values()}
    return {str(each).strip() for each in value} if isinstance(value, list | tuple) else set()


def _server(name: Any, said: Any, environ: Mapping[str, str], home: Path) -> McpServerSettings:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingsError(
            PREFIX + SERVERS,
            Words(f"a server named {str(name)[:60]!r}"),
            "names of up to 30 letters, digits and -, because tools are called mcp_<name>_<tool>",
        )
    source = f"{PREFIX}{SERVERS}.{name}"
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(FIELDS))
    values = read_fields(said, FIELDS, source)
    _refuse_both_ways(values, source)
    env = {**_held(values.pop("env_names", ()), environ, source), **values.pop("env", {})}
    headers = _headers(values, environ, source)
    if "cwd" in values:
        values["cwd"] = home / values["cwd"]
    return McpServerSettings(name=name, env=env, headers=headers, **values)


def _refuse_both_ways(values: Mapping[str, Any], source: str) -> None:
    if ("command" in values) == ("url" in values):
        found = "both command and url" if "url" in values else "neither command nor url"
        raise SettingsError(source, Words(found), "one of the two")
    own, others = ("command", _HTTP) if "command" in values else ("url", _STDIO)
    strange = [field for field in others if field in values]
    if strange:
        raise SettingsError(f"{source}.{strange[0]}", Words(f"it beside {own}"), "one without it")


def _headers(values: dict[str, Any], environ: Mapping[str, str], source: str) -> Mapping[str, str]:
    holders: dict[str, str] = values.pop("headers_env", {})
    held = _held(holders.values(), environ, source)
    headers = {name: held[variable] for name, variable in holders.items()}
    holder = values.pop("token_env", None)
    if holder is not None:
        headers["Authorization"] = f"Bearer {_held([holder], environ, source)[holder]}"
    return {**values.pop("headers", {}), **headers}


def _held(names: Iterable[str], environ: Mapping[str, str], source: str) -> dict[str, str]:
    held = {name: environ.get(name, "") for name in names}
    if not all(value.strip() for value in held.values()):
        # Without the name: a key pasted in its place would end up in the error.
        raise SettingsError(
            source, Words("a variable that is not set"), "variables that are, or no such line"
        )
    return held
