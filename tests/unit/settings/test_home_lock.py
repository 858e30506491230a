"""One process per home."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.core.errors import AlreadyRunning
from hermes.settings.home_lock import HomeLock

HOLD = """
import sys
from pathlib import Path
from hermes.settings.home_lock import HomeLock
with HomeLock(Path(sys.argv[1])) as lock:
    lock.announce("http://127.0.0.1:8642")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "gateway.lock"


def start_holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_learns_who_holds_the_home(path: Path) -> None:
    with start_holder(path) as holder:
        with pytest.raises(AlreadyRunning) as caught:
            HomeLock(path).acquire()
        holder.communicate(timeout=10)
    assert str(caught.value) == (
        f"{path.parent} is already served by process {holder.pid} at http://127.0.0.1:8642; "
        "stop it or choose another HERMES_HOME"
    )


def test_a_killed_process_holds_nothing(path: Path) -> None:
    with start_holder(path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=10)
    with HomeLock(path):
        assert str(os.getpid()) in path.read_text()


def test_a_closed_lock_can_be_taken_again(path: Path) -> None:
    lock = HomeLock(path)
    lock.acquire()
    lock.close()
    lock.close()
    with HomeLock(path), pytest.raises(AlreadyRunning, match=f"process {os.getpid()};"):
        HomeLock(path).acquire()


def test_a_lock_file_without_words_still_refuses(path: Path) -> None:
    with HomeLock(path):
        path.write_text("")
        with pytest.raises(AlreadyRunning, match="served by another process; stop it"):
            HomeLock(path).acquire()


def test_the_file_is_private(path: Path) -> None:
    with HomeLock(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_child_started_meanwhile_does_not_keep_the_lock(path: Path) -> None:
    lock = HomeLock(path)
    lock.acquire()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        lock.close()
        with HomeLock(path):
            child.communicate(b"\n", timeout=10)
