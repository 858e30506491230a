"""A workspace in a temporary folder, and the context of a tool that works in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
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
def run(context: ToolContext) -> Run:
    """Runs a builtin tool as the agent does: `run("read_file", path="a.txt")`."""
    registry = Registry.builtin()

    def call(name: str, **arguments: Any) -> str:
        return registry.run(name, arguments, context)

    return call
