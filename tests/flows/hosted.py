"""What the flows with CLI agents share: a stand-in for the CLI, and a look at what it leaves."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

from hermes.core.cli_agents import Profile
from hermes.settings.cli_settings import CliAgentSettings, CliSettings
from hermes.settings.paths import cli_folder
from tests.flows import stub_claude
from tests.flows.conftest import Flow, StartFlow, eventually

MODEL = "claude/haiku"


def stub(folder: Path) -> tuple[str, ...]:
    """The command of a `claude` that `stub_claude` plays."""
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {stub_claude.__file__} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return (str(program),)


def agent(folder: Path, **fields: Any) -> CliAgentSettings:
    settings = {"name": "claude", "driver": "claude", "command": stub(folder), "login": False}
    return CliAgentSettings(**{**settings, "api_key": "sk-test-stub", **fields})


async def hosting(
    flow: StartFlow, folder: Path, *, cli: dict[str, Any] | None = None, **fields: Any
) -> Flow:
    """A gateway that hosts the stand-in; `fields` are the agent's, `cli` those of all agents."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    settings = CliSettings(agents=(agent(bin_folder, **fields),), **(cli or {}))
    return await flow([], home=folder / "home", cli=settings)


def script(folder: Path, name: str, body: str) -> tuple[str, ...]:
    """The command of a CLI that is a few lines of Python."""
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{body}\n")
    program.chmod(0o755)
    return (str(program),)


async def chat(served: Flow, said: str, **body: Any) -> tuple[int, Any]:
    messages = [{"role": "user", "content": said}]
    wanted = {"model": MODEL, "messages": messages, **body}
    return await served.answer("POST", "/v1/chat/completions", json=wanted)


def text_of(completion: Any) -> str:
    return str(completion["choices"][0]["message"]["content"])


async def nothing_is_left(home: Path, within: float = 6.0) -> None:
    """No process of a job, and no folder."""
    await eventually(lambda: not processes_of_jobs(home) and not job_folders(home), within=within)


def job_folders(home: Path) -> list[str]:
    folder = cli_folder(home) / "jobs"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def processes_of_jobs(home: Path) -> list[int]:
    """Those that carry the mark of a job of this gateway; other tests have theirs."""
    folder = f"TMPDIR={home}/".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = place.read_bytes().split(b"\0")
        except OSError:
            continue  # gone meanwhile, or somebody else's
        if any(each.startswith(folder) for each in variables):
            found.append(int(place.parent.name))
    return found


EDIT = {"profile": Profile.EDIT}
"""An agent that asks before it runs a command."""
