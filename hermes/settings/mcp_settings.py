"""The MCP servers whose tools the agent may use, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from hermes.settings.redaction import names_a_secret

McpApproval = Literal["auto", "ask", "allow"]
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerSettings:
    """One server: a command to start, or a URL to reach."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: _NONE, repr=False)
    """What it sees of variables beside the harmless ones, by name."""
    cwd: Path | None = None
    """None: the agent's workspace."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: _NONE, repr=False)
    tools: tuple[str, ...] = ()
    """Names or globs of the tools that are offered; empty: all of them."""
    exclude: tuple[str, ...] = ()
    """Names or globs of tools that are not, whatever `tools` says."""
    enabled: bool = True
    approval: McpApproval = "auto"
    """`auto` asks about the tools that the server itself calls destructive."""
    timeout_seconds: float = 60.0
    """For one call."""
    connect_timeout_seconds: float = 30.0

    @property
    def secrets(self) -> frozenset[str]:
        given = {value for name, value in self.env.items() if value and names_a_secret(name)}
        # What a header carries is hardly ever meant for others; nor is it without its scheme.
        sent = {word for value in self.headers.values() for word in (value, value.split()[-1])}
        return frozenset(given | sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    servers: tuple[McpServerSettings, ...] = ()
    """In the order of the file."""

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset[str]().union(*(server.secrets for server in self.servers))
