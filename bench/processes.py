"""The processes of a bench: started on loopback, watched through /proc, always ended.

Children live in sessions of their own, so that Ctrl-C reaches the bench alone, which then ends
them; should the bench itself be killed, the kernel ends them.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_START_SECONDS = 20.0
_STOP_SECONDS = 8.0
_PR_SET_PDEATHSIG = 1


class ChildFailed(Exception):
    """A process of the bench did not start, or ended before its time."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used so far, all its threads included."""

    cpu_seconds: float
    memory_bytes: int
    threads: int


@dataclass(frozen=True, slots=True)
class Server:
    """A running child that listens on `port`."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def usage(self) -> Usage:
        return usage_of(self.process.pid)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a server: its command, and what it needs in its environment."""

    name: str
    command: Sequence[str]
    port: int
    environment: Mapping[str, str]
    probe: str = "/health"


@contextmanager
def running(launch: Launch) -> Iterator[Server]:
    """Start a server, hand it over as soon as it answers 200, end it whatever happens."""
    with tempfile.TemporaryFile() as log, _child(launch, log.fileno()) as process:
        _await_answer(launch, process, log.fileno())
        yield Server(launch.name, launch.port, process)


@contextmanager
def _child(launch: Launch, output: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        launch.command,
        env=clean_environment(launch.environment),
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_die_with_parent,
    )
    with ending(process):
        yield process


@contextmanager
def ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ask the child to end when the block is left; insist if it does not, or on a second Ctrl-C."""
    try:
        yield
    finally:
        try:
            process.terminate()
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()


@contextmanager
def load_generator() -> Iterator[subprocess.Popen[bytes]]:
    """`bench.load` with open pipes; its complaints go to our own stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load"],
        cwd=_ROOT,
        env=clean_environment({}),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_die_with_parent,
    )
    with process, ending(process):
        yield process


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Only what a process needs to run: no key, proxy or setting of the user's reaches a bench."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(_ROOT), **extra}


def free_port() -> int:
    """A free port below the range from which the kernel picks the ports of outgoing connections."""
    for port in random.sample(range(20_000, 32_000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ChildFailed("no free port between 20000 and 32000: stop what listens there and try again")


def _await_answer(launch: Launch, process: subprocess.Popen[bytes], log: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not answers(launch.port, launch.probe):
        if process.poll() is not None:
            said = _tail(log)
            raise ChildFailed(f"{launch.name} ended with {process.returncode}; it said:\n{said}")
        if time.monotonic() > deadline:
            raise ChildFailed(f"{launch.name} did not answer in time; it said:\n{_tail(log)}")
        time.sleep(0.005)


def answers(port: int, path: str) -> bool:
    """Whether a GET of `path` is answered with 200 right now."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.sendall(request)
            return line.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def _tail(log: int, size: int = 2000) -> str:
    return os.pread(log, size, max(0, os.fstat(log).st_size - size)).decode(errors="replace")


def usage_of(pid: int) -> Usage:
    # The second field is the command's name, which may itself contain spaces and brackets.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Usage(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND,
        memory_bytes=int(fields[21]) * _PAGE_BYTES,
        threads=int(fields[17]),
    )
