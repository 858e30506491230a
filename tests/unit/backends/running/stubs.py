"""A CLI that is a few lines of Python, and a peer that understands it."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes.backends.jobs import Places, Plan, Question
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.launch import Launch
from hermes.backends.saying import (
    CloseInput,
    Concluded,
    Ending,
    EndKind,
    Event,
    Exit,
    PermissionAsked,
    Said,
    Step,
    Told,
    Write,
)
from tests.unit.backends.processes import WAIT_SECONDS

HI = Question(text="hi")
ANSWERED = Ending(kind=EndKind.ANSWERED)


@dataclass
class StubPeer:
    """Reads `say …`, `ask …` and `done`; everything else is an unknown line."""

    greeting: Sequence[Step] = ()
    interruption: Sequence[Step] = ()
    dismissal: Sequence[Step] = ()
    keeps_input_open: bool = False
    lines: list[bytes] = field(default_factory=list)
    exit: Exit | None = None

    def greet(self) -> Sequence[Step]:
        return self.greeting

    def ask(self, question: Question) -> Sequence[Step]:
        said = Write(question.text.encode() + b"\n")
        return [said] if self.keeps_input_open else [said, CloseInput()]

    def read(self, line: bytes) -> Sequence[Event | Step]:
        self.lines.append(line)
        word, _, rest = line.decode(errors="replace").partition(" ")
        if word == "say":
            return [Said(rest)]
        if word == "ask":
            return [asked(rest)]
        if word == "done":
            return [Concluded()]
        return [Told("unknown_line", line[:50].decode(errors="replace"))]

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        return [Write(f"{question_id} {'yes' if is_allowed else 'no'} {message}\n".encode())]

    def interrupt(self) -> Sequence[Step]:
        return self.interruption

    def dismiss(self) -> Sequence[Step]:
        return self.dismissal

    def finish(self, exit_: Exit) -> Ending:
        self.exit = exit_
        if exit_.stopped is not None:
            return Ending(kind=EndKind.STOPPED)
        return Ending(kind=EndKind.ANSWERED if exit_.code == 0 else EndKind.FAILED)


def asked(question_id: str) -> PermissionAsked:
    return PermissionAsked(
        id=question_id,
        call_id=question_id,
        tool="shell",
        arguments={},
        shown="rm x",
        reason="wants to",
    )


def places_in(folder: Path) -> Places:
    places = Places(
        home=folder / "home", workspace=folder / "workspace", scratch=folder / "scratch"
    )
    for place in (places.home, places.workspace, places.scratch):
        place.mkdir(mode=0o700, exist_ok=True)
    return places


PRELUDE = """
import os, signal, subprocess, sys, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told us to ignore it

def tell(line):
    print(line, flush=True)

def announce(*pids):
    with open("pids.tmp", "w") as file:
        print(*pids, file=file)
    os.rename("pids.tmp", "pids")

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
"""


def stub(folder: Path, job_id: str, script: str, **changes: Any) -> Launch:
    """How to start a CLI that is this script."""
    path = folder / "stub.py"
    path.write_text(PRELUDE + textwrap.dedent(script))
    fields: dict[str, Any] = {
        "plan": Plan(argv=(sys.executable, str(path))),
        "places": places_in(folder),
        "environment": {"PATH": os.environ["PATH"]},
        "mark": job_id,
    }
    return Launch(**(fields | changes))


async def begin(launch: Launch, peer: StubPeer | None = None) -> tuple[CliProcess, list[Event]]:
    """A process, and what it will have said."""
    events: list[Event] = []
    return await CliProcess.start(launch, peer or StubPeer(), events.append), events


async def end_of(process: CliProcess) -> Ending:
    async with asyncio.timeout(WAIT_SECONDS):
        return await process.ended()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)
