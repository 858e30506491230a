"""Who comes from a process is found and ended, wherever it went; nobody else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes.core.ids import new_id
from hermes.processes.family import Family
from hermes.processes.marks import Mark, marked
from hermes.processes.table import look_at

PARENT = """
    import os, subprocess, sys, time
    line = [sys.executable, "-c", {child!r}]
    child = subprocess.Popen(line, env={environment}, start_new_session={leaves_session})
    print(child.pid, flush=True)
    {after}
"""
SLEEPS = "import time; time.sleep(600)"

Starts = Callable[..., tuple[Family, subprocess.Popen[bytes], int]]


@pytest.fixture
def start() -> Iterator[Starts]:
    """Starts a parent, which starts a child; both are gone after the test."""
    started: list[tuple[subprocess.Popen[bytes], int]] = []

    def parent(
        *, leaves_session: bool, environment: str, after: str = SLEEPS, child: str = SLEEPS
    ) -> tuple[Family, subprocess.Popen[bytes], int]:
        mark = Mark("HERMES_TEST", new_id(""))
        script = PARENT.format(
            leaves_session=leaves_session, environment=environment, after=after, child=child
        )
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)],
            env={mark.variable: mark.value},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        family = Family(process.pid, mark)
        assert process.stdout is not None
        number = int(process.stdout.readline())
        started.append((process, number))
        return family, process, number

    yield parent
    for process, number in started:
        process.kill()
        if is_running(number):
            os.kill(number, signal.SIGKILL)
        process.communicate()


def is_running(pid: int) -> bool:
    process = look_at(pid)
    return process is not None and not process.is_over


def end_leader(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.mark.parametrize("leaves_session", [False, True])
@pytest.mark.parametrize("environment", ["None", "{}"])
def test_while_its_parent_lives_every_child_is_found(
    start: Starts, environment: str, leaves_session: bool
) -> None:
    family, process, child = start(leaves_session=leaves_session, environment=environment)
    assert family.members() == sorted([process.pid, child])


@pytest.mark.parametrize(
    ("leaves_session", "environment"), [(True, "None"), (False, "{}"), (False, "None")]
)
def test_an_orphan_is_found_by_its_mark_or_by_its_session(
    start: Starts, environment: str, leaves_session: bool
) -> None:
    family, process, child = start(leaves_session=leaves_session, environment=environment)
    end_leader(process)
    assert family.members() == [child]


def test_who_was_seen_once_is_not_lost_with_its_parent(start: Starts) -> None:
    family, process, child = start(leaves_session=True, environment="{}")
    family.members()
    end_leader(process)
    assert family.members() == [child]


def test_all_of_it_is_ended_also_who_does_not_heed_a_polite_signal(
    start: Starts, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    stubborn = (
        "import signal, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"pathlib.Path({str(ready)!r}).touch(); time.sleep(600)"
    )
    family, process, child = start(leaves_session=True, environment="None", child=stubborn)
    while not ready.exists():
        assert is_running(child)
    end_leader(process)

    swept = family.end(polite_seconds=0.05)

    assert (swept.found, swept.left) == (1, 0)
    assert not is_running(child)
    assert family.members() == []


def test_where_nobody_is_left_nothing_is_done(start: Starts) -> None:
    family, process, _ = start(leaves_session=False, environment="None")
    family.end()
    process.wait()
    swept = family.end()
    assert (swept.found, swept.left) == (0, 0)


def test_where_we_are_the_parent_of_all_orphans_none_is_left_unreaped() -> None:
    """As the first process of a container is; here by a wish to the system."""
    script = """
        import ctypes, os, subprocess, sys
        from hermes.processes.family import Family
        from hermes.processes.marks import Mark
        from hermes.processes.table import everybody

        assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
        orphan = "import os, sys, time; os.fork() or time.sleep(600)"
        environment = {"HERMES_TEST": "orphan"}
        line = [sys.executable, "-c", orphan]
        leader = subprocess.Popen(line, env=environment, start_new_session=True)
        family = Family(leader.pid, Mark("HERMES_TEST", "orphan"))
        leader.wait()
        print(family.end().found, [p for p in everybody() if p.parent == os.getpid()])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("1 []\n", "")


def test_where_the_system_has_no_table_the_group_is_ended(
    start: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, process, child = start(leaves_session=False, environment="None")
    monkeypatch.setattr("hermes.processes.family.is_there", lambda: False)
    family.end()
    process.wait()
    monkeypatch.undo()
    while is_running(child):
        assert family.members() in ([child], [])


def test_another_mark_is_another_family(start: Starts) -> None:
    _, process, _ = start(leaves_session=True, environment="None")
    stranger = Family(process.pid, Mark("HERMES_TEST", "somebody-else"))
    end_leader(process)
    assert stranger.members() == []
    assert marked([Mark("HERMES_TEST", "somebody-else")]) == []
