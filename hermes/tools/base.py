"""What a tool is: a function with type hints and a docstring, and the context it runs in."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.core.events import Emit, Event
from hermes.core.memories import MemoryScope
from hermes.core.todos import TodoScope
from hermes.tools.errand import RunErrand
from hermes.tools.problem import ToolProblem as ToolProblem
from hermes.tools.schema import parameters_of
from hermes.tools.services import Services
from hermes.tools.workspace import Workspace


def _unheard(_event: Event) -> None:
    """Where events go that nobody listens to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """For whom a tool runs: what is remembered, found or paid belongs to them."""

    owner: str = "default"
    """The name of the key that asked."""
    session_id: str | None = None
    session_key: str | None = None
    """What the client calls its user, in `X-Hermes-Session-Key`."""
    run_id: str | None = None
    is_kept: bool = False
    """Whether `session_id` is a stored session of this agent, and not just a name."""
    turn_id: str = ""
    """Names this turn alone."""

    @property
    def memories(self) -> MemoryScope:
        """Whose facts are remembered."""
        return MemoryScope(owner=self.owner, session_key=self.session_key or "")

    @property
    def todos(self) -> TodoScope:
        """Where the plan belongs."""
        return TodoScope(session_id=self.session_id if self.is_kept else None, turn_id=self.turn_id)

    @property
    def holder(self) -> str:
        """Who may read what a tool has kept: the key, and its user where the client names them."""
        return f"{self.owner}\n{self.session_key or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may know and use."""

    workspace: Workspace
    stop: threading.Event
    """Set when the turn is interrupted; a tool must give up within a second."""
    report: Callable[[str], None]
    """Takes a line of progress for whoever watches; never blocks."""
    task_id: str | None = None
    extra_environment: Collection[str] = ()
    """Names (or patterns like `CI_*`) of further variables that commands may see; never secrets."""
    call_id: str = ""
    scope: Scope = field(default_factory=Scope)
    services: Services = field(default_factory=Services)
    emit: Emit = _unheard
    """Takes what the tool did for the log of the run; never blocks."""
    errands: RunErrand | None = None
    """None in a sub-agent: it sends no others."""
    ask: Callable[[str], None] | None = None
    """Puts a question to the user, which ends the turn; None where nobody can be asked."""

    def check_stop(self) -> None:
        """Raise when the turn was interrupted. Long loops call this between their steps."""
        if self.stop.is_set():
            raise ToolProblem("Interrupted: the turn was stopped before this tool was done.")


Preview = Callable[[Mapping[str, Any]], str]
Missing = Callable[[Services], str | None]


def _nothing_missing(_services: Services) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the agent can do on the server."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type `object`."""
    toolset: str
    function: Callable[..., str]
    """Called with a `ToolContext` and the validated arguments by name."""
    preview: Preview
    """One short line about a call for progress displays, such as the command."""
    is_parallel: bool = False
    """Whether it may run beside others of its kind: it only reads, or keeps to itself."""
    missing: Missing = _nothing_missing
    """What has to be configured before it can be used, in words for the user; None: nothing."""
    asks: str = ""
    """Why its calls need approval where no rule fits, in words that follow "it"; empty: none."""


def tool(
    *,
    toolset: str,
    preview: Preview,
    is_parallel: bool = False,
    missing: Missing = _nothing_missing,
) -> Callable[[Callable[..., str]], Tool]:
    """Make a function a `Tool`: name, docstring and hints tell the model about it."""

    def made(function: Callable[..., str]) -> Tool:
        description = inspect.getdoc(function)
        if not description:
            raise TypeError(f"tool {function.__name__} needs a docstring: the model reads it")
        return Tool(
            name=function.__name__,
            description=description,
            parameters=parameters_of(function),
            toolset=toolset,
            function=function,
            preview=preview,
            is_parallel=is_parallel,
            missing=missing,
        )

    return made
