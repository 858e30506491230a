"""A command as a process group of its own, which is signalled and ended as one.

The leader stays unreaped until its whole group was killed: so long nobody else can get its number.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_REAP = 1.0  # for a killed leader to vanish; only a hanging kernel call takes longer

Group = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how much of everything it may use."""

    argv: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    timeout: float
    """Seconds."""
    keep: int = 40_000
    """Bytes of output to keep, half from the start and half from the end."""
    output_limit: int = 268_435_456
    """Bytes of output after which the command is ended."""
    given: bytes = b""
    """What it can read as its input."""


def start_group(command: Command) -> Group:
    """Start it; both its outputs come through one pipe. Raises `OSError` or `ValueError`."""
    if not command.given:
        return _started(command, subprocess.DEVNULL)
    # A file without a name, not a pipe: a command that does not read blocks nobody.
    with tempfile.TemporaryFile() as file:
        file.write(command.given)
        file.seek(0)
        return _started(command, file.fileno())


def _started(command: Command, stdin: int) -> Group:
    return subprocess.Popen(  # noqa: S603  running commands is what this file is for
        list(command.argv),
        cwd=command.directory,
        env=dict(command.environment),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )


def signal_group(process: Group, number: signal.Signals) -> None:
    # PermissionError is how some systems say that only a zombie is left in the group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def kill_group(process: Group) -> None:
    """Kill whoever is left in the group, then reap the leader."""
    signal_group(process, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAP)


def has_exited(process: Group) -> bool:
    """Whether the leader is done, without reaping it where the system can tell."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, how) is not None
    except ChildProcessError:  # this program ignores SIGCHLD, so the kernel reaped it
        return True
