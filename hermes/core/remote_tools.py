"""Tools that other processes offer over a protocol, as the agent's tools see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class ServerStatus(Enum):
    """How it stands with a server."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    UNREACHABLE = "unreachable"
    """It is tried again from time to time."""
    UNAVAILABLE = "unavailable"
    """Trying again would not help: something has to be installed."""
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    name: str
    status: ServerStatus
    problem: str = ""
    """Why it is not connected, in words for the operator."""
    tools: int = 0
    """How many are offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCall:
    arguments: Mapping[str, Any]
    is_stopped: Callable[[], bool]
    """Whether nobody wants the answer any more."""
    report: Callable[[str], None]
    """Takes a line of progress; never blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAnswer:
    text: str
    is_problem: bool = False
    """Whether the text says what went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTool:
    name: str
    """Unique, and fit for every provider."""
    server: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type `object`, as the server wrote it."""
    is_read_only: bool = False
    asks: str = ""
    """Why its calls need approval where no rule fits, in words that follow "it"; empty: none."""
    call: Callable[[RemoteCall], RemoteAnswer] = field(compare=False, repr=False)
    """Blocks until there is an answer, which may say that there is none. Never raises."""


class RemoteServers(Protocol):
    """Safe to use from any thread. Asking never waits for a server."""

    def tools(self) -> tuple[RemoteTool, ...]:
        """The very same tuple for as long as nothing has changed."""

    def states(self) -> tuple[ServerState, ...]: ...
