"""Commands end when they should, completely, and cost a bounded amount of everything."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.tools.process import Command, Ending, Finished, run_command
from tests.unit.tools.processes import eventually, is_running, pids_in

Shell = Callable[..., Finished]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    environment = {"PATH": os.environ["PATH"]}
    return Command(argv=("true",), directory=tmp_path, environment=environment, timeout=30)


@pytest.fixture
def shell(command: Command) -> Shell:
    def run(line: str, stop: threading.Event | None = None, **changes: float) -> Finished:
        prepared = replace(command, argv=("sh", "-c", line), **changes)  # type: ignore[arg-type]
        return run_command(prepared, stop or threading.Event())

    return run


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def own_children() -> set[int]:
    """Every child of this process, dead ones that nobody has waited for included."""
    return {
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if parent_of(stat) == os.getpid()
    }


def parent_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # gone since it was listed


def test_output_of_both_streams_and_the_exit_code_come_back(shell: Shell) -> None:
    finished = shell("echo out; echo err >&2; exit 3")
    assert finished == Finished(ending=Ending.EXITED, exit_code=3, output="out\nerr\n")


def test_a_signal_is_a_negative_exit_code(shell: Shell) -> None:
    assert shell("kill -9 $$").exit_code == -signal.SIGKILL


def test_there_is_no_input_to_wait_for(shell: Shell) -> None:
    assert shell("cat; echo done").output == "done\n"


def test_input_that_is_given_is_read_and_then_at_its_end(command: Command) -> None:
    given = replace(command, argv=("sh", "-c", "cat; cat; echo done"), given=b"x" * 200_000)
    finished = run_command(replace(given, keep=300_000), threading.Event())
    assert finished.output == "x" * 200_000 + "done\n"


def test_input_that_nobody_reads_blocks_nobody(command: Command) -> None:
    given = replace(command, argv=("true",), given=b"x" * 5_000_000)
    assert run_command(given, threading.Event()).exit_code == 0


def test_the_command_leads_a_session_of_its_own(shell: Shell) -> None:
    pid, group, session = shell("ps -o pid=,pgid=,sid= -p $$").output.split()
    assert pid == group == session


def test_a_quick_command_takes_no_longer_than_it_must(shell: Shell) -> None:
    started = time.monotonic()
    for _ in range(10):
        shell("true")
    assert time.monotonic() - started < 2


def test_a_timeout_ends_the_whole_group(shell: Shell, tmp_path: Path) -> None:
    line = "sleep 300 & echo $! >> pids; (sleep 300 & echo $! >> pids); echo $$ >> pids; sleep 300"
    finished = shell(line, timeout=0.5)
    assert finished.ending is Ending.TIMED_OUT
    assert len(pids_in(tmp_path)) == 3
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_processes_that_ignore_sigterm_are_killed(shell: Shell, tmp_path: Path) -> None:
    line = "trap '' TERM; sleep 300 & echo $! $$ >> pids; while true; do sleep 300; done"
    started = time.monotonic()
    finished = shell(line, timeout=0.3)
    assert time.monotonic() - started < 2
    assert finished.exit_code == -signal.SIGKILL
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_a_process_may_clean_up_after_sigterm(shell: Shell) -> None:
    finished = shell("trap 'echo tidy; exit 0' TERM; while true; do sleep 0.01; done", timeout=0.3)
    assert finished.output.endswith("tidy\n")


def test_a_stop_is_obeyed_within_a_second(command: Command, tmp_path: Path) -> None:
    stop, begun = threading.Event(), threading.Event()
    stopped_at: list[float] = []

    def interrupt() -> None:
        assert begun.wait(10)
        stopped_at.append(time.monotonic())
        stop.set()

    helper = threading.Thread(target=interrupt)
    helper.start()
    line = "sleep 300 & echo $! $$ >> pids; echo begun; sleep 300"
    finished = run_command(
        replace(command, argv=("sh", "-c", line)), stop, lambda _chunk: begun.set()
    )
    helper.join()
    assert time.monotonic() - stopped_at[0] < 1
    assert (finished.ending, finished.output) == (Ending.INTERRUPTED, "begun\n")
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_a_silent_command_with_closed_output_can_still_be_stopped(shell: Shell) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    started = time.monotonic()
    assert shell("exec >&- 2>&-; sleep 300", stop).ending is Ending.INTERRUPTED
    assert time.monotonic() - started < 1.3
    timer.join()


def test_a_background_process_that_holds_the_output_does_not_hang_the_tool(
    shell: Shell, tmp_path: Path
) -> None:
    started = time.monotonic()
    finished = shell("sleep 300 & echo $! >> pids; echo done")
    assert time.monotonic() - started < 2
    expected = Finished(ending=Ending.EXITED, exit_code=0, output="done\n", left_processes=True)
    assert finished == expected
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_a_background_process_without_output_ends_with_the_command(
    shell: Shell, tmp_path: Path
) -> None:
    finished = shell("sleep 300 >/dev/null 2>&1 & echo $! >> pids")
    assert finished.ending is Ending.EXITED
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_a_noisy_background_process_does_not_hang_the_tool(shell: Shell) -> None:
    finished = shell("yes & echo leader done")
    assert finished.ending is Ending.EXITED
    assert finished.left_processes


def test_a_hundred_megabytes_of_output_use_hardly_any_memory(shell: Shell) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    finished = shell("echo first; head -c 100000000 /dev/zero; echo; echo last", keep=1000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert finished.exit_code == 0
    assert finished.output.startswith("first\n")
    assert finished.output.endswith("last\n")
    assert "… 99,999,012 bytes cut …" in finished.output
    assert grown < 20_000  # kilobytes


def test_endless_output_is_ended_at_the_limit(shell: Shell) -> None:
    finished = shell("yes", output_limit=1_000_000)
    assert finished.ending is Ending.TOO_MUCH_OUTPUT
    assert len(finished.output) < 50_000


def test_no_descriptors_threads_or_zombies_stay_behind(shell: Shell) -> None:
    shell("true")
    descriptors, threads, children = open_descriptors(), threading.active_count(), own_children()
    for line in ("true", "sleep 300 & true", "sleep 300"):
        shell(line, timeout=0.2)
    assert open_descriptors() == descriptors
    assert threading.active_count() == threads
    assert own_children() <= children


def test_a_watcher_that_fails_leaves_nothing_running(command: Command, tmp_path: Path) -> None:
    def fail(chunk: bytes) -> None:
        raise RuntimeError

    line = "sleep 300 & echo $! $$ >> pids; echo x; sleep 300"
    with pytest.raises(RuntimeError):
        run_command(replace(command, argv=("sh", "-c", line)), threading.Event(), fail)
    assert eventually(lambda: not any(map(is_running, pids_in(tmp_path))))


def test_a_command_that_cannot_start_raises(command: Command) -> None:
    with pytest.raises(FileNotFoundError):
        run_command(replace(command, argv=("/no/such/program",)), threading.Event())
