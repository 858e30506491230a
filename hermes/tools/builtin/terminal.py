"""The `terminal` tool: one shell command on the server."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, assert_never

from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.environment import child_environment
from hermes.tools.output import one_line
from hermes.tools.problem import explained
from hermes.tools.process import Command, Ending, Finished, run_command
from hermes.tools.schema import Between
from hermes.tools.tracking import tracked_command

_LONGEST = 600
_LONGEST_COMMAND = 30_000  # characters; systems refuse arguments over 128 kB
_REPORT_EVERY = 1.0


@tool(toolset="terminal", preview=lambda arguments: str(arguments.get("command", "")))
def terminal(
    context: ToolContext,
    command: Annotated[str, "The command line, as for `bash -c`."],
    timeout: Annotated[int, "Seconds after which the command is ended.", Between(1, _LONGEST)] = 60,
    workdir: Annotated[str, "Directory to run in, relative to the workspace."] = ".",
) -> str:
    """Run a shell command on the server and return its output and exit code.

    Every call is a fresh shell without input: directory changes and variables do not last.
    Processes left in the background are ended together with the command.
    """
    if len(command) > _LONGEST_COMMAND:
        raise ToolProblem("The command is too long; write it to a file and run that with `bash`.")
    prepared = Command(
        argv=(shutil.which("bash") or "/bin/sh", "-c", command),
        directory=_directory(context, workdir),
        environment=child_environment(
            os.environ, home=context.workspace.root, extra=context.extra_environment
        ),
        timeout=timeout,
    )
    try:
        with (
            explained("start the command"),
            tracked_command(context, command, prepared.directory) as running,
        ):
            finished = run_command(prepared, context.stop, _progress(context.report))
            running.exit_code = finished.exit_code
    except ValueError as error:
        raise ToolProblem("The command contains characters that no command can have.") from error
    return f"{finished.output.rstrip() or '(no output)'}\n[{_ending(finished, timeout)}]"


def _directory(context: ToolContext, workdir: str) -> Path:
    directory = context.workspace.resolve(workdir)
    with explained(f"enter {workdir}"):
        if not directory.is_dir():
            raise ToolProblem(f"workdir {workdir!r} is not an existing directory.")
    return directory


def _progress(report: Callable[[str], None]) -> Callable[[bytes], None]:
    """Report the newest line of output, at most once a second."""
    last = time.monotonic()

    def watch(chunk: bytes) -> None:
        nonlocal last
        line = chunk.rstrip().rpartition(b"\n")[2]
        if line and time.monotonic() - last >= _REPORT_EVERY:
            last = time.monotonic()
            report(one_line(line.decode(errors="replace")))

    return watch


def _ending(finished: Finished, timeout: int) -> str:
    match finished.ending:
        case Ending.EXITED:
            left = "; background processes were ended" if finished.left_processes else ""
            return _exit_text(finished.exit_code) + left
        case Ending.TIMED_OUT:
            advice = f"give a longer timeout (at most {_LONGEST}) or do less at once"
            return f"timed out after {timeout} seconds and was ended; {advice}"
        case Ending.INTERRUPTED:
            return "interrupted: the turn was stopped and the command ended"
        case Ending.TOO_MUCH_OUTPUT:
            return "ended because it printed far too much; send its output to a file instead"
        case _:
            assert_never(finished.ending)


def _exit_text(code: int | None) -> str:
    if code is None:
        return "the command cannot be ended; it hangs in the operating system"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
