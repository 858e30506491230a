"""A note for each command that runs, so that none outlives a killed server for long.

A command carries its id in its environment, and so does everything it starts. Whoever comes after
a process that died finds its notes, and ends what still carries their ids. Marks and notes, because
the alternative (asking the kernel to send a signal) reaches the first process only. Needs `/proc`.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from hermes.core.ids import new_id
from hermes.tools.process_group import Command
from hermes.tools.writing import create_file

MARK = "HERMES_COMMAND"

_GRACE = 0.3
_PROC = Path("/proc")
_START_TIME = 19  # in /proc/<pid>/stat, counted after the name

_log = logging.getLogger(__name__)


class Leftovers:
    """Safe to use from any thread, and from several processes with one home. May block."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    @contextmanager
    def noted(self, command: Command) -> Iterator[Command]:
        """The command with its mark; the note is there for as long as the block is."""
        name = new_id("cmd_")
        note = self._folder() / name
        self._write(note)
        try:
            yield replace(command, environment={**command.environment, MARK: name})
        finally:
            _remove(note)

    def _write(self, note: Path) -> None:
        try:
            create_file(note, _identity(os.getpid()).encode())
        except OSError as error:
            # On a full disk commands must run all the same: one of them may free some space.
            _log.warning("a command runs without a note: %s", error.strerror)

    def end(self) -> int:
        """End what processes that died have left running; how many processes that were."""
        orphaned = [note for note in self._folder().glob("cmd_*") if not _is_alive(_read(note))]
        ended = end_marked({note.name for note in orphaned}) if orphaned else 0
        for note in orphaned:
            _remove(note)
        if ended:
            _log.warning("ended what a killed server had left running", extra={"processes": ended})
        return ended


def _remove(note: Path) -> None:
    with suppress(OSError):  # it could not be written, or somebody else has removed it
        note.unlink()


def _read(note: Path) -> str:
    try:
        return note.read_text(errors="replace")
    except OSError:
        return ""  # its command has just ended


def end_marked(names: Set[str]) -> int:
    """Ask every process that carries one of these ids to end, then kill it; how many there were."""
    found = _marked(names)
    if not found:
        return 0
    _signal(found, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    while (left := _marked(names)) and time.monotonic() < deadline:
        time.sleep(0.01)
    _signal(left, signal.SIGKILL)
    return len(found)


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _marked(names: Set[str]) -> list[int]:
    marks = {f"{MARK}={name}".encode() for name in names if name}
    found = []
    for place in _PROC.glob("[0-9]*/environ"):
        with suppress(OSError):  # gone meanwhile, or another user's
            if not marks.isdisjoint(place.read_bytes().split(b"\0")):
                found.append(int(place.parent.name))
    return found


@cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def _identity(process: int) -> str:
    """A process by its number and its birth: numbers are used again."""
    try:
        born = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()[_START_TIME]
    except (OSError, IndexError):
        born = "unknown"
    return f"{_boot()} {process} {born}"


def _is_alive(identity: str) -> bool:
    try:
        process = int(identity.split()[1])
        os.kill(process, 0)
    except (ValueError, IndexError, ProcessLookupError):
        return False  # a note that was cut short belongs to a process that died while writing it
    except PermissionError:
        return False  # somebody else has its number now
    return _identity(process) == identity
