"""The `python` tool: a program in a process of its own, with limits."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated

from hermes.tools import python_start
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.commands import LONGEST_SECONDS, ending_text, prepared, run
from hermes.tools.output import cap, one_line
from hermes.tools.python_dangers import LONGEST
from hermes.tools.schema import Between

_LARGEST_FILE = 1_000_000_000
_MEGABYTE = 1_000_000
_LONGEST_SHOWN = 2000


@tool(
    toolset="terminal",
    preview=lambda arguments: one_line(str(arguments.get("code", ""))),
)
def python(
    context: ToolContext,
    code: Annotated[str, "The program."],
    timeout: Annotated[
        int, "Seconds after which the program is ended.", Between(1, LONGEST_SECONDS)
    ] = 60,
) -> str:
    """Run Python code on the server and return what it prints and its exit code.

    Every call is a fresh interpreter in the workspace, without input; nothing of an earlier call
    is left. The value of an expression on the last line is printed. Memory is limited.
    """
    if len(code) > LONGEST:
        raise ToolProblem("The code is too long; write it to a file and import that.")
    try:
        given = code.encode()
    except UnicodeEncodeError as error:
        raise ToolProblem("The code has half a surrogate pair, which no program has.") from error
    ready = prepared(context, _argv(context, timeout), ".", timeout, given or b"\n")
    finished = run(context, ready, f"python: {cap(code, _LONGEST_SHOWN)}")
    return f"{finished.output.rstrip() or '(no output)'}\n[{ending_text(finished, timeout)}]"


def _argv(context: ToolContext, timeout: int) -> tuple[str, ...]:
    memory = context.services.python_memory_mb() * _MEGABYTE
    # All cores for all of the time: only what got away from us is ended by it.
    processor_seconds = timeout * (os.cpu_count() or 1) + 1
    limits = (str(memory), str(processor_seconds), str(_LARGEST_FILE))
    return (sys.executable, "-I", "-u", "-X", "utf8", "-c", _start(), *limits)


@cache
def _start() -> str:
    """As text: in a sandbox the file itself may not be there."""
    return Path(python_start.__file__).read_text(encoding="utf-8")
