"""What a killed server left running is ended by the next one; everybody else's is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes.tools.leftovers import MARK, Leftovers
from hermes.tools.process import run_command
from hermes.tools.process_group import Command
from tests.unit.tools.processes import eventually, is_running, pids_in

SERVER = """
import sys
from pathlib import Path
from hermes.tools.background import Processes, Room, Start
from hermes.tools.leftovers import Leftovers
from hermes.tools.process_group import Command

folder = Path(sys.argv[1])
leftovers = Leftovers(lambda: folder / "commands")
processes = Processes(lambda: 16, leftovers)
line = "trap '' TERM; setsid sleep 304 & echo $! $$ > pids; while true; do sleep 9; done"
command = Command(argv=("bash", "-c", line), directory=folder, environment={}, timeout=1)
room = Room(holder="a", conversation="c", is_shared=False)
start = Start(room=room, command=command, shown=line, call_id="")
processes.start(start, print)
print("ready", flush=True)
sys.stdin.read()
"""


def commands_in(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / "commands").glob("*"))


@pytest.fixture
def leftovers(tmp_path: Path) -> Leftovers:
    return Leftovers(lambda: tmp_path / "commands")


def server_in(folder: Path) -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    assert eventually(lambda: len(pids_in(folder)) == 2)
    return server


def stop(server: subprocess.Popen[bytes]) -> None:
    server.kill()
    server.communicate()


def test_what_a_killed_server_left_is_ended_with_all_it_started(
    leftovers: Leftovers, tmp_path: Path
) -> None:
    stop(server_in(tmp_path))
    pids = pids_in(tmp_path)
    assert all(map(is_running, pids))

    assert leftovers.end() >= 2

    assert eventually(lambda: not any(map(is_running, pids)))
    assert commands_in(tmp_path) == []
    assert leftovers.end() == 0


def test_what_a_living_server_runs_is_left_alone(leftovers: Leftovers, tmp_path: Path) -> None:
    server = server_in(tmp_path)
    try:
        assert leftovers.end() == 0
        assert all(map(is_running, pids_in(tmp_path)))
        assert len(commands_in(tmp_path)) == 1
    finally:
        stop(server)
        leftovers.end()


def test_a_note_lasts_as_long_as_the_command(leftovers: Leftovers, tmp_path: Path) -> None:
    command = Command(
        argv=("sh", "-c", f"echo ${MARK}; ls commands"),
        directory=tmp_path,
        environment={"PATH": os.environ["PATH"]},
        timeout=10,
    )
    with leftovers.noted(command) as noted:
        told, seen = run_command(noted, threading.Event()).output.split()
    assert told == seen
    assert commands_in(tmp_path) == []


def test_a_note_is_for_the_owner_only(leftovers: Leftovers, tmp_path: Path) -> None:
    command = Command(argv=("true",), directory=tmp_path, environment={}, timeout=1)
    with leftovers.noted(command):
        [note] = (tmp_path / "commands").iterdir()
        assert note.stat().st_mode & 0o777 == 0o600
        assert note.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("text", ["", "boot", "boot 1", "boot x 1", "boot 1 1", "\udcff"])
def test_a_note_that_names_nobody_is_removed(
    leftovers: Leftovers, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "cmd_1").write_bytes(text.encode(errors="surrogateescape"))
    assert leftovers.end() == 0
    assert commands_in(tmp_path) == []


def test_where_nothing_was_ever_run_there_is_nothing_to_do(leftovers: Leftovers) -> None:
    assert leftovers.end() == 0


def test_commands_run_also_where_no_note_can_be_written(caplog: pytest.LogCaptureFixture) -> None:
    blocked = Leftovers(lambda: Path("/dev/null/commands"))
    command = Command(argv=("true",), directory=Path("/"), environment={}, timeout=5)
    with blocked.noted(command) as noted:
        assert run_command(noted, threading.Event()).exit_code == 0
    assert "without a note" in caplog.text
