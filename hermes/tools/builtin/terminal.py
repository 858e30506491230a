"""The `terminal` tool: one shell command on the server."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Annotated

from hermes.tools.background import Background, Start, State
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.commands import (
    LONGEST_SECONDS,
    ending_text,
    exit_text,
    prepared,
    run,
    startable,
)
from hermes.tools.process_group import Command
from hermes.tools.rooms import room_of
from hermes.tools.schema import Between

_LONGEST_COMMAND = 30_000  # characters; systems refuse arguments over 128 kB
_FIRST_LOOK = 0.5  # seconds in which a command that cannot work usually fails
_FIRST_OUTPUT = 10_000
_MOST_PRINTED = 1_000_000_000  # bytes, after which one in the background is ended


@tool(toolset="terminal", preview=lambda arguments: str(arguments.get("command", "")))
def terminal(
    context: ToolContext,
    command: Annotated[str, "The command line, as for `bash -c`."],
    timeout: Annotated[
        int, "Seconds after which the command is ended.", Between(1, LONGEST_SECONDS)
    ] = 60,
    workdir: Annotated[str, "Directory to run in, relative to the workspace."] = ".",
    background: Annotated[bool, "Let it run on, without a timeout; see `process`."] = False,
) -> str:
    """Run a shell command on the server and return its output and exit code.

    Every call is a fresh shell without input: directory changes and variables do not last.
    Processes left in the background are ended together with the command; what is to run on, such
    as a server, is started with `background` and looked after with `process`.
    """
    if len(command) > _LONGEST_COMMAND:
        raise ToolProblem("The command is too long; write it to a file and run that with `bash`.")
    argv = (shutil.which("bash") or "/bin/sh", "-c", command)
    ready = prepared(context, argv, workdir, timeout)
    if background:
        return _run_on(context, ready, command)
    finished = run(context, ready, command)
    return f"{finished.output.rstrip() or '(no output)'}\n[{ending_text(finished, timeout)}]"


def _run_on(context: ToolContext, ready: Command, command: str) -> str:
    processes = context.services.processes
    if processes is None:
        raise ToolProblem("Nothing can run in the background here; run it in the foreground.")
    start = Start(
        room=room_of(context),
        command=replace(ready, output_limit=_MOST_PRINTED),
        shown=command,
        call_id=context.call_id,
    )
    with startable():
        process = processes.start(start, context.emit)
    process.ended.wait(_FIRST_LOOK)
    return _first_look(process)


def _first_look(process: Background) -> str:
    page = process.output.last(_FIRST_OUTPUT)
    process.seen = page.end
    output = page.text.rstrip() or "(no output so far)"
    if process.state is State.RUNNING:
        return f'{output}\n[runs in the background: process(action="poll", id="{process.id}")]'
    return f"{output}\n[{process.id} has ended already: {exit_text(process.exit_code)}]"
