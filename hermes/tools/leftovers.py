"""A note for each command that runs, so that none outlives a killed server for long.

A command carries its id in its environment, and so does everything it starts. Whoever comes after
a process that died finds its notes, and ends what still carries their ids. Marks and notes, because
the alternative (asking the kernel to send a signal) reaches the first process only. Needs `/proc`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hermes.core.ids import new_id
from hermes.processes.ending import sweep
from hermes.processes.marks import Mark, marked
from hermes.processes.notes import Notes
from hermes.tools.process_group import Command

MARK = "HERMES_COMMAND"

_log = logging.getLogger(__name__)


class Leftovers:
    """Safe to use from any thread, and from several processes with one home. May block."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._notes = Notes(folder)

    @contextmanager
    def noted(self, command: Command) -> Iterator[Command]:
        """The command with its mark; the note is there for as long as the block is."""
        name = new_id("cmd_")
        self._write(name)
        try:
            yield replace(command, environment={**command.environment, MARK: name})
        finally:
            self._notes.remove(name)

    def _write(self, name: str) -> None:
        try:
            self._notes.write(name)
        except OSError as error:
            # On a full disk commands must run all the same: one of them may free some space.
            _log.warning("a command runs without a note: %s", error.strerror)

    def end(self) -> int:
        """End what processes that died have left running; how many processes that were."""
        orphaned = self._notes.orphaned()
        ended = end_marked(set(orphaned)) if orphaned else 0
        for name in orphaned:
            self._notes.remove(name)
        if ended:
            _log.warning("ended what a killed server had left running", extra={"processes": ended})
        return ended


def end_marked(names: Set[str]) -> int:
    """Ask every process that carries one of these ids to end, then kill it; how many there were."""
    marks = [Mark(MARK, name) for name in names if name]
    return sweep(lambda: marked(marks)).found
