"""What a tool is: a function with type hints and a docstring, and the context it runs in."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.tools.problem import ToolProblem as ToolProblem
from hermes.tools.schema import parameters_of
from hermes.tools.workspace import Workspace


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

    def check_stop(self) -> None:
        """Raise when the turn was interrupted. Long loops call this between their steps."""
        if self.stop.is_set():
            raise ToolProblem("Interrupted: the turn was stopped before this tool was done.")


Preview = Callable[[Mapping[str, Any]], str]


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


def tool(*, toolset: str, preview: Preview) -> Callable[[Callable[..., str]], Tool]:
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
        )

    return made
