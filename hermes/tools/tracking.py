"""Around whatever changes files: what they were is kept first, and what happened is told after.

Every tool that writes a file or runs a command does so inside one of these blocks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hermes.core.changes import FileChange
from hermes.core.events import CommandRan, FilesChanged
from hermes.core.shadow import Doer
from hermes.tools.base import ToolContext

MOST_IN_ONE_EVENT = 500
"""A command may change thousands of files; an event is read as a whole."""


@contextmanager
def tracked_file(context: ToolContext, path: Path) -> Iterator[None]:
    """The block writes this file, and makes folders for it where they are missing."""
    recorder = context.services.changes
    if recorder is None:
        yield
        return
    recording = recorder.before_file(context.workspace.root, path, _doer(context))
    try:
        yield
    finally:
        _tell(context, recording.finish())


@dataclass(slots=True)
class RunningCommand:
    """What the block has to say about its command."""

    exit_code: int | None = None


@contextmanager
def tracked_command(
    context: ToolContext, command: str, directory: Path
) -> Iterator[RunningCommand]:
    """The block runs this command, which may change anything in the workspace.

    A block that raises has not run it, and only what changed is told.
    """
    recorder = context.services.changes
    recording = None
    if recorder is not None:
        recording = recorder.before_command(context.workspace.root, _doer(context))
    running, began = RunningCommand(), time.monotonic()
    has_run = False
    try:
        yield running
        has_run = True
    finally:
        seconds = time.monotonic() - began
        if recording is not None:
            _tell(context, recording.finish())
        if has_run:
            context.emit(
                CommandRan(
                    call_id=context.call_id,
                    command=command,
                    directory=str(directory),
                    exit_code=running.exit_code,
                    seconds=round(seconds, 3),
                    untracked=NOBODY_RECORDS if recording is None else recording.untracked,
                )
            )


NOBODY_RECORDS = "Nobody records what is changed here."


def _tell(context: ToolContext, changes: Sequence[FileChange]) -> None:
    root = str(context.workspace.root)
    for start in range(0, len(changes), MOST_IN_ONE_EVENT):
        some = tuple(changes[start : start + MOST_IN_ONE_EVENT])
        context.emit(FilesChanged(context.call_id, some, root))


def _doer(context: ToolContext) -> Doer:
    return Doer(context.scope.run_id, context.call_id)
