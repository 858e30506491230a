"""The `search_files` tool: lines that match, found by ripgrep or by our own scan.

Both run as killable processes and print the same format; a pattern that blows up only costs time.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from hermes.tools import scan
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.environment import child_environment
from hermes.tools.output import one_line
from hermes.tools.problem import explained
from hermes.tools.process import Command, Ending, Finished, run_command
from hermes.tools.schema import Between

_SECONDS = 20
_MOST_OUTPUT = 2_000_000
_LONGEST_TEXT = 300
_BAD_EXPRESSION = 2


@tool(
    toolset="files",
    preview=lambda arguments: str(arguments.get("pattern", "")),
    is_parallel=True,
)
def search_files(
    context: ToolContext,
    pattern: Annotated[str, "Regular expression, matched against each line."],
    path: Annotated[str, "Directory or file to search, relative to the workspace."] = ".",
    glob: Annotated[str, "Only files like this, such as *.py or src/**/*.{js,ts}."] = "",
    max_results: Annotated[int, "How many matching lines to return.", Between(1, 1000)] = 100,
) -> str:
    """Search text files for a regular expression. Answers one `path:line: text` per matching line.

    Hidden files are searched; .git, node_modules, binary files and files over 10 MB are not.
    """
    place = context.workspace.resolve(path)
    shown = context.workspace.show(place)
    search = _Search(context, place, pattern, glob, max_results)
    with explained(f"search {shown}"):
        if not place.exists():
            raise ToolProblem(f"{shown} does not exist; use list_files to find it.")
        if place.is_file() and place.stat().st_size > scan.LARGEST_FILE:
            raise ToolProblem(f"{shown} is over 10 MB; search it with a command such as grep.")
        finished = search.run()
    matches = list(search.matches(finished.output))
    return "\n".join([*matches[:max_results], *_notes(finished.ending, len(matches), max_results)])


@dataclass(frozen=True, slots=True)
class _Search:
    context: ToolContext
    place: Path
    pattern: str
    glob: str
    most: int

    @property
    def _folder(self) -> Path:
        return self.place if self.place.is_dir() else self.place.parent

    @property
    def _start(self) -> str:
        return "." if self.place.is_dir() else f"./{self.place.name}"

    @property
    def _wanted(self) -> str:
        """A file that is named is meant, whatever the glob says."""
        return self.glob if self.place.is_dir() else ""

    def run(self) -> Finished:
        """Ask ripgrep, and the own scan when there is none or it cannot read the expression."""
        ripgrep = shutil.which("rg")
        if ripgrep:
            finished = self._run(_ripgrep(ripgrep, self.pattern, self._start, self._wanted))
            failed = finished.ending is Ending.EXITED and finished.exit_code not in (0, 1)
            if not failed or any(self.matches(finished.output)):
                return finished
        return self._scan()

    def _scan(self) -> Finished:
        program = (sys.executable, "-I", "-S", "-W", "ignore", scan.__file__)
        # One more than wanted, to know whether there are more.
        arguments = (self.pattern, self._start, self._wanted, str(self.most + 1))
        finished = self._run((*program, *arguments))
        if finished.ending is Ending.EXITED and finished.exit_code == _BAD_EXPRESSION:
            reason = one_line(finished.output)
            raise ToolProblem(
                f"The pattern or glob cannot be read: {reason}. Put a backslash before characters "
                "that are meant literally, such as ( [ { * + ? ."
            )
        if finished.ending is Ending.EXITED and finished.exit_code != 0:
            raise RuntimeError(f"the scan ended with {finished.exit_code}")
        return finished

    def _run(self, argv: Sequence[str]) -> Finished:
        command = Command(
            argv=argv,
            directory=self._folder,
            environment=child_environment(os.environ, home=self.context.workspace.root),
            timeout=_SECONDS,
            keep=4 * _MOST_OUTPUT,
            output_limit=_MOST_OUTPUT,
        )
        try:
            return run_command(command, self.context.stop)
        except ValueError as error:
            raise ToolProblem("The pattern or glob has a character no search can use.") from error

    def matches(self, output: str) -> Iterator[str]:
        """The engine's lines as the model reads them; anything else it printed is left out."""
        for line in output.split("\n"):
            name, found, rest = line.partition("\0")
            number, _colon, text = rest.partition(":")
            if found:
                shown = self.context.workspace.show(self._folder / name)
                yield f"{shown}:{number}: {_shortened(text)}"


def _ripgrep(program: str, pattern: str, start: str, glob: str) -> list[str]:
    form = "--color=never --no-heading --with-filename --line-number --null --sort=path"
    scope = f"--no-config --no-messages --hidden --no-ignore --max-filesize={scan.LARGEST_FILE}"
    # Without it `$` would stand after the carriage return of a line.
    ends = "--crlf"
    width = "--max-columns=4096 --max-columns-preview"
    globs = [f"--glob={glob}"] if glob else []
    globs += [f"--glob=!{folder}" for folder in scan.SKIPPED_FOLDERS]
    return [program, *f"{form} {scope} {ends} {width}".split(), *globs, "-e", pattern, "--", start]


def _shortened(text: str) -> str:
    text = text.rstrip("\r")
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _notes(ending: Ending, found: int, most: int) -> list[str]:
    if ending is Ending.INTERRUPTED:
        return ["[Interrupted: the turn was stopped before the search was done.]"]
    if found > most:
        return [f"[Only the first {most} matches; narrow the pattern, path or glob to see others.]"]
    if ending is Ending.TIMED_OUT:
        advice = "use a simpler pattern (no nested repetition) or a narrower path or glob"
        return [f"[Stopped after {_SECONDS} seconds, so this may not be all; {advice}.]"]
    if ending is Ending.TOO_MUCH_OUTPUT:
        return ["[Too many matches to look at them all; narrow the pattern, path or glob.]"]
    return [] if found else ["No matches."]
