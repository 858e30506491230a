"""How tools run commands: with a small environment, in the sandbox, noted, and told about."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes.tools.base import ToolContext, ToolProblem
from hermes.tools.environment import child_environment
from hermes.tools.output import one_line
from hermes.tools.outputs import LARGEST
from hermes.tools.problem import explained
from hermes.tools.process import Ending, Finished, run_command
from hermes.tools.process_group import Command
from hermes.tools.tracking import tracked_command

LONGEST_SECONDS = 600
_SHOWN = 40_000
_REPORT_EVERY = 1.0
_IMPOSSIBLE = "The command contains characters that no command can have."


def prepared(
    context: ToolContext,
    argv: Sequence[str],
    workdir: str,
    timeout: float,
    given: bytes = b"",
) -> Command:
    """The command as the tool means it; `workdir` is relative to the workspace."""
    command = Command(
        argv=argv,
        directory=_directory(context, workdir),
        environment=child_environment(
            os.environ, home=context.workspace.root, extra=context.extra_environment
        ),
        timeout=timeout,
        given=given,
        # Where it can be kept, the model may read all of it in parts.
        keep=_SHOWN if context.services.outputs is None else LARGEST,
    )
    return context.services.sandbox.around(command, context.workspace.root)


def run(context: ToolContext, command: Command, shown: str) -> Finished:
    """Run it to its end; `shown` is how the log of the run tells about it."""
    with (
        startable(),
        tracked_command(context, shown, command.directory) as running,
        _noted(context, command) as noted,
    ):
        finished = run_command(noted, context.stop, _progress(context.report))
        running.exit_code = finished.exit_code
    return finished


@contextmanager
def startable() -> Iterator[None]:
    """Tells the model why a command cannot be started."""
    try:
        with explained("start the command"):
            yield
    except ValueError as error:
        raise ToolProblem(_IMPOSSIBLE) from error


def ending_text(finished: Finished, timeout: float) -> str:
    """How it ended, and what to do about it where it had to be ended."""
    match finished.ending:
        case Ending.EXITED:
            left = "; background processes were ended" if finished.left_processes else ""
            return exit_text(finished.exit_code) + left
        case Ending.TIMED_OUT:
            advice = f"give a longer timeout (at most {LONGEST_SECONDS}) or do less at once"
            return f"timed out after {timeout:g} seconds and was ended; {advice}"
        case Ending.INTERRUPTED:
            return "interrupted: the turn was stopped and the command ended"
        case Ending.TOO_MUCH_OUTPUT:
            return "ended because it printed far too much; send its output to a file instead"


def exit_text(code: int | None) -> str:
    if code is None:
        return "the command cannot be ended; it hangs in the operating system"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


@contextmanager
def _noted(context: ToolContext, command: Command) -> Iterator[Command]:
    leftovers = context.services.leftovers
    if leftovers is None:
        yield command
        return
    with leftovers.noted(command) as noted:
        yield noted


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
