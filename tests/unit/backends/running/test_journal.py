"""What a killed gateway left of its jobs is ended and removed; what a living one runs is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from tests.unit.tools.processes import eventually, is_running, pids_in

GATEWAY = """
import asyncio, os, sys
from pathlib import Path
from hermes.backends.jobs import Plan
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from hermes.backends.running.launch import Launch
from tests.unit.backends.running.stubs import StubPeer

JOB = sys.argv[2]
SCRIPT = '''
trap '' INT TERM
setsid sleep 305 &
marked=$!
setsid env -i TMPDIR="$TMPDIR" sleep 307 &
echo $marked $! $$ > pids.tmp
mv pids.tmp pids
sleep 306
true
'''

async def main():
    folders = JobFolders(lambda: Path(sys.argv[1]))
    JobJournal(folders).note(JOB)
    places = folders.make(JOB)
    plan = Plan(argv=("bash", "-c", SCRIPT))
    environment = {"PATH": os.environ["PATH"]}
    launch = Launch(plan=plan, places=places, environment=environment, mark=JOB)
    process = await CliProcess.start(launch, StubPeer(), print)
    print("ready", flush=True)
    await process.ended()

asyncio.run(main())
"""


@pytest.fixture
def folders(tmp_path: Path) -> JobFolders:
    return JobFolders(lambda: tmp_path / "root")


@pytest.fixture
def journal(folders: JobFolders) -> JobJournal:
    return JobJournal(folders)


def gateway_in(root: Path, job_id: str) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A gateway that runs a job, and the processes of the job."""
    gateway = subprocess.Popen(
        [sys.executable, "-c", GATEWAY, str(root), job_id],
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert gateway.stdout is not None
    assert gateway.stdout.readline() == b"ready\n"
    workspace = root / "jobs" / job_id / "workspace"
    assert eventually(lambda: len(pids_in(workspace)) == 3)
    return gateway, pids_in(workspace)


def kill(gateway: subprocess.Popen[bytes]) -> None:
    gateway.kill()
    gateway.communicate()


def test_what_a_killed_gateway_left_is_ended_and_removed(
    journal: JobJournal, folders: JobFolders, job_id: str
) -> None:
    gateway, pids = gateway_in(folders.root, job_id)
    kill(gateway)
    assert all(map(is_running, pids))

    assert journal.sweep_stale() >= 3

    assert not any(map(is_running, pids))
    assert folders.job_ids() == []
    assert list((folders.root / "running").iterdir()) == []
    assert journal.sweep_stale() == 0


def test_the_jobs_of_a_living_gateway_are_left_alone(
    journal: JobJournal, folders: JobFolders, job_id: str
) -> None:
    gateway, pids = gateway_in(folders.root, job_id)
    try:
        assert journal.sweep_stale() == 0
        assert all(map(is_running, pids))
        assert folders.job_ids() == [job_id]
    finally:
        kill(gateway)
        journal.sweep_stale()


def test_a_folder_that_nobody_noted_is_removed_and_sessions_stay(
    journal: JobJournal, folders: JobFolders
) -> None:
    folders.make("job_lost")
    journal.note("job_mine")
    folders.make("job_mine")
    session = folders.session_home("claude", "s")
    assert journal.sweep_stale() == 0
    assert folders.job_ids() == ["job_mine"]
    assert session.is_dir()


def test_a_note_is_for_the_owner_only_and_gone_with_its_job(
    journal: JobJournal, folders: JobFolders
) -> None:
    journal.note("job_1")
    [note] = (folders.root / "running").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    journal.forget("job_1")
    journal.forget("job_1")
    assert not note.exists()


def test_where_nothing_was_ever_run_there_is_nothing_to_do(journal: JobJournal) -> None:
    assert journal.sweep_stale() == 0
