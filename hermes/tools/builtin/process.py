"""The `process` tool: commands that run in the background, looked at and ended."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from hermes.tools.background import Background, Processes, State
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.commands import exit_text
from hermes.tools.output import one_line
from hermes.tools.rooms import room_of
from hermes.tools.schema import Between
from hermes.tools.services import Services

_MOST = 40_000
_LOOK = 0.1
_KILL_SECONDS = 5.0
_NOBODY = "Background processes need a server or `hermes chat` that looks after them."

Action = Literal["list", "poll", "log", "wait", "kill"]


def _missing(services: Services) -> str | None:
    if services.processes is not None:
        return None
    return _NOBODY


@tool(
    toolset="terminal",
    preview=lambda arguments: f"{arguments.get('action', '')} {arguments.get('id', '')}".strip(),
    missing=_missing,
)
def process(
    context: ToolContext,
    action: Annotated[Action, "What to do."],
    id: Annotated[str, "The process, as `terminal` named it; for all but list."] = "",
    offset: Annotated[int | None, "For log: the first byte of its output to show."] = None,
    limit: Annotated[int, "How many bytes of output to show.", Between(100, _MOST)] = 20_000,
    seconds: Annotated[int, "For wait: how long at most.", Between(1, 600)] = 60,
) -> str:
    """Look after commands that `terminal` has started in the background.

    poll: how it is and what it printed since the last poll. wait: the same, once it has ended or
    the time is over. log: a part of its output, the last one without an offset. kill: end it.
    """
    processes = context.services.processes
    if processes is None:
        raise ToolProblem(_NOBODY)
    if action == "list":
        return _listed(context, processes)
    found = processes.find(room_of(context), id)
    if found is None:
        raise ToolProblem(f"There is no process {id!r} here; see process(action=list).")
    match action:
        case "poll":
            return _news(found, limit)
        case "log":
            return _log(found, offset, limit)
        case "wait":
            _wait(context, found, seconds)
            return _news(found, limit)
        case "kill":
            found.end()
            _wait(context, found, _KILL_SECONDS)
            return _news(found, limit)


def state_text(process: Background) -> str:
    """How it is, or how it ended."""
    seconds = f"{process.seconds:.0f} s"
    match process.state:
        case State.RUNNING:
            return f"running for {seconds}"
        case State.EXITED:
            return f"{exit_text(process.exit_code)} after {seconds}"
        case State.KILLED:
            return f"ended by process(action=kill) after {seconds}"
        case State.TOO_MUCH_OUTPUT:
            return f"ended after {seconds} because it printed far too much"


def _listed(context: ToolContext, processes: Processes) -> str:
    room = room_of(context)
    if room.is_shared:
        raise ToolProblem(
            "This chat is not kept by the server, so its processes cannot be told from those of "
            "others; use the ids that `terminal` has named."
        )
    lines = [
        f"{each.id}: {state_text(each)}: {one_line(each.start.shown)}"
        for each in processes.of(room)
    ]
    return "\n".join(lines) or "No processes in the background."


def _news(process: Background, limit: int) -> str:
    page = process.output.last(limit)
    if page.start < process.seen:
        page = process.output.page(process.seen, limit)
    skipped = page.start - process.seen
    process.seen = page.end
    before = f"[{skipped:,} bytes before this were not shown; see log]\n" if skipped > 0 else ""
    return f"{before}{page.text.rstrip() or '(no new output)'}\n[{state_text(process)}]"


def _log(process: Background, offset: int | None, limit: int) -> str:
    page = process.output.last(limit) if offset is None else process.output.page(offset, limit)
    rest = f"; go on with offset={page.end}" if page.end < page.total else ""
    return (
        f"{page.text.rstrip() or '(no output)'}\n"
        f"[bytes {page.start:,} to {page.end:,} of {page.total:,}{rest}; {state_text(process)}]"
    )


def _wait(context: ToolContext, process: Background, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not context.stop.is_set() and time.monotonic() < deadline:
        if process.ended.wait(_LOOK):
            return
