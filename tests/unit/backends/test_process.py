"""The runner, with real processes: what it returns, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from hermes.backends import process
from hermes.backends.errors import CommandFailed, CommandMissing, OutputTooLarge, TimedOut
from hermes.backends.process import Command, Completed, run
from hermes.backends.running.lines import STDERR_TAIL
from tests.unit.backends.processes import WAIT_SECONDS, announced, ended, is_alive


def python(script: str, cwd: Path, **changes: Any) -> Command:
    fields: dict[str, Any] = {
        "argv": (sys.executable, "-c", textwrap.dedent(script)),
        "cwd": cwd,
        "environment": {"PATH": os.environ["PATH"]},
        "timeout_seconds": 30.0,
    }
    return Command(**(fields | changes))


FAMILY = """
    import os, signal, subprocess, sys, time
    {before}
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open("pids.tmp", "w") as file:
        print(os.getpid(), child.pid, file=file)
    os.rename("pids.tmp", "pids")
    {after}
"""
"""A parent with a child of its own, both in the runner's group."""


async def test_output_errors_and_exit_code_come_back(tmp_path: Path) -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert await run(python(script, tmp_path)) == Completed(3, b"out\n", "err\n")


async def test_the_child_sees_only_the_given_environment_folder_and_no_stdin(
    tmp_path: Path,
) -> None:
    script = """
        import os, sys
        print(os.getcwd(), os.environ.get("WORD"), "HOME" in os.environ, repr(sys.stdin.read()))
    """
    done = await run(python(script, tmp_path, environment={"WORD": "yes"}))
    assert done.stdout.decode() == f"{tmp_path} yes False ''\n"


async def test_stdin_is_what_the_caller_gives_however_long(tmp_path: Path) -> None:
    script = "import sys; print(len(sys.stdin.buffer.read()))"
    assert (await run(python(script, tmp_path, stdin=b"x" * 3_000_000))).stdout == b"3000000\n"


async def test_a_line_of_a_megabyte_arrives_whole(tmp_path: Path) -> None:
    script = "print('x' * 1_000_000)"
    assert (await run(python(script, tmp_path))).stdout == b"x" * 1_000_000 + b"\n"


async def test_a_flood_on_stderr_blocks_nothing_and_its_end_is_kept(tmp_path: Path) -> None:
    script = """
        import sys
        sys.stderr.write("e" * 1_000_000 + "the end")
        print("done")
    """
    done = await run(python(script, tmp_path))
    assert done.stdout == b"done\n"
    assert done.stderr == "e" * (STDERR_TAIL - 7) + "the end"


@pytest.mark.parametrize("unit", ["'x' * 5000", "'x\\n' * 2500"])
async def test_too_much_output_ends_the_command(tmp_path: Path, unit: str) -> None:
    script = f"""
        import sys
        while True:
            sys.stdout.write({unit})
    """
    with pytest.raises(OutputTooLarge, match="100000 bytes"):
        await run(python(script, tmp_path, output_limit=100_000))


async def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandMissing, match="no-such-program"):
        await run(python("", tmp_path, argv=("no-such-program",)))


async def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("hello")
    with pytest.raises(CommandFailed, match="could not be started"):
        await run(python("", tmp_path, argv=(str(tmp_path / "notes"),)))


async def test_a_timeout_ends_the_child_and_the_grandchild(tmp_path: Path) -> None:
    script = FAMILY.format(before="", after="time.sleep(600)")
    with pytest.raises(TimedOut, match="within 3 s"):
        await run(python(script, tmp_path, timeout_seconds=3.0))
    await ended(await announced(tmp_path / "pids"))


async def test_cancelling_ends_the_child_and_the_grandchild(tmp_path: Path) -> None:
    running = asyncio.ensure_future(
        run(python(FAMILY.format(before="", after="time.sleep(600)"), tmp_path))
    )
    parent, child = await announced(tmp_path / "pids")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not is_alive(parent)
    await ended([child])


async def test_who_ignores_the_polite_signal_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TERM_GRACE_SECONDS", 0.2)
    before = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    running = asyncio.ensure_future(
        run(python(FAMILY.format(before=before, after="time.sleep(600)"), tmp_path))
    )
    pids = await announced(tmp_path / "pids")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await ended(pids)


async def test_a_second_cancellation_does_not_stop_the_clean_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TERM_GRACE_SECONDS", 1.0)
    before = "signal.signal(signal.SIGTERM, lambda *_: open('asked', 'w').close())"
    after = "\n    while True: time.sleep(0.01)"
    running = asyncio.ensure_future(
        run(python(FAMILY.format(before=before, after=after), tmp_path))
    )
    pids = await announced(tmp_path / "pids")
    running.cancel()
    await announced(tmp_path / "asked")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await ended(pids)


async def test_a_polite_signal_leaves_time_for_a_clean_end(tmp_path: Path) -> None:
    before = "signal.signal(signal.SIGTERM, lambda *_: (open('tidy', 'w').close(), sys.exit()))"
    running = asyncio.ensure_future(
        run(python(FAMILY.format(before=before, after="time.sleep(600)"), tmp_path))
    )
    await announced(tmp_path / "pids")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (tmp_path / "tidy").exists()


async def test_a_child_left_behind_by_a_finished_command_is_ended(tmp_path: Path) -> None:
    done = await run(python(FAMILY.format(before="", after="print('bye')"), tmp_path))
    assert done == Completed(0, b"bye\n", "")
    await ended(await announced(tmp_path / "pids"))


async def test_a_child_that_left_the_group_is_ended_too(tmp_path: Path) -> None:
    script = """
        import subprocess, sys
        sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
        child = subprocess.Popen(sleeper, start_new_session=True)
        print(child.pid)
    """
    done = await run(python(script, tmp_path))
    assert done.returncode == 0
    assert not is_alive(int(done.stdout))


async def test_who_got_away_with_the_pipes_does_not_hold_us(tmp_path: Path) -> None:
    """Own session, no mark, no parent: nothing tells whose it is, but it has our pipes."""
    script = """
        import os, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open("pids.tmp", "w") as file:
                    print(os.getpid(), file=file)
                sleeper = "import os, time; os.rename('pids.tmp', 'pids'); time.sleep(600)"
                os.execve(sys.executable, [sys.executable, "-c", sleeper], {})
            os._exit(0)
        os.wait()
        while not os.path.exists("pids"):
            time.sleep(0.01)
        print("bye")
    """
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            done = await run(python(script, tmp_path))
        assert done == Completed(0, b"bye\n", "")
    finally:
        for pid in await announced(tmp_path / "pids"):
            os.kill(pid, 9)
