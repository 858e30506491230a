"""A workspace in a temporary folder, and the context of a tool that works in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.core.events import Event
from hermes.settings.tool_settings import ToolSettings
from hermes.tools.background import Processes
from hermes.tools.base import Scope, ToolContext
from hermes.tools.leftovers import Leftovers
from hermes.tools.outputs import Outputs
from hermes.tools.registry import Registry
from hermes.tools.sandbox import Sandbox
from hermes.tools.services import Services
from hermes.tools.workspace import Workspace

Run = Callable[..., str]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def reports() -> list[str]:
    return []


@pytest.fixture
def context(workspace: Workspace, reports: list[str]) -> ToolContext:
    return ToolContext(workspace=workspace, stop=threading.Event(), report=reports.append)


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def tool_settings() -> ToolSettings:
    """What a test overrides to have it otherwise."""
    return ToolSettings()


@pytest.fixture
def served(
    context: ToolContext, events: list[Event], tool_settings: ToolSettings, tmp_path: Path
) -> Iterator[ToolContext]:
    """The context of a tool in a server: there is a home, and somebody looks after processes."""
    home = tmp_path / "home"
    leftovers = Leftovers(lambda: home / "commands")
    processes = Processes(lambda: tool_settings.max_background, leftovers)
    services = Services(
        sandbox=Sandbox(lambda: tool_settings, lambda: home),
        leftovers=leftovers,
        processes=processes,
        python_memory_mb=lambda: tool_settings.python_memory_mb,
        outputs=Outputs(lambda: home / "outputs", lambda: tool_settings),
    )
    yield replace(
        context,
        services=services,
        emit=events.append,
        call_id="call_1",
        scope=Scope(owner="ann", session_id="s1"),
    )
    processes.close()


@pytest.fixture
def run_served(served: ToolContext) -> Run:
    """Like `run`, in a server."""
    registry = Registry.builtin()

    def call(name: str, **arguments: Any) -> str:
        return registry.run(name, arguments, served)

    return call


@pytest.fixture
def run(context: ToolContext) -> Run:
    """Runs a builtin tool as the agent does: `run("read_file", path="a.txt")`."""
    registry = Registry.builtin()

    def call(name: str, **arguments: Any) -> str:
        return registry.run(name, arguments, context)

    return call
