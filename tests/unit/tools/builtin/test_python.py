"""Python code runs in a process of its own, with limits, and tells how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import pytest

from hermes.core.events import CommandRan, Event
from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from tests.unit.tools.processes import eventually, is_running, pids_in

Run = Callable[..., str]


def test_what_is_printed_is_followed_by_the_exit_code(run: Run) -> None:
    assert run("python", code="print('hello')") == "hello\n[exit code 0]"
    assert run("python", code="import sys; sys.exit(3)") == "(no output)\n[exit code 3]"
    assert run("python", code="") == "(no output)\n[exit code 0]"


def test_an_expression_at_the_end_is_shown(run: Run) -> None:
    assert run("python", code="x = 20\nx + 1") == "21\n[exit code 0]"
    assert run("python", code="print('once')") == "once\n[exit code 0]"


def test_an_error_shows_the_lines_of_the_code_and_nothing_else(run: Run) -> None:
    result = run("python", code="def f():\n    return 1 / 0\n\nf()\n")
    assert result.startswith(
        'Traceback (most recent call last):\n  File "<code>", line 4, in <module>\n    f()\n'
    )
    assert "return 1 / 0" in result
    assert result.endswith("ZeroDivisionError: division by zero\n[exit code 1]")
    assert result.count("File ") == 2


def test_code_that_is_no_python_is_explained(run: Run) -> None:
    result = run("python", code="def f(:\n    pass")
    assert 'File "<code>", line 1' in result
    assert "SyntaxError" in result
    assert result.count("File ") == 1


def test_it_works_in_the_workspace_and_finds_its_modules(run: Run, context: ToolContext) -> None:
    root = context.workspace.root
    (root / "mine.py").write_text("VALUE = 7")
    result = run("python", code="import mine, os\nprint(mine.VALUE, os.getcwd())")
    assert result == f"7 {root}\n[exit code 0]"


def test_there_is_no_input_to_wait_for(run: Run) -> None:
    assert "EOFError" in run("python", code="input()")


def test_every_text_can_be_printed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("LC_ALL", "C")
    assert run("python", code="print('ä€😀')").startswith("ä€😀\n")


def test_memory_is_limited(context: ToolContext) -> None:
    small = replace(context.services, python_memory_mb=lambda: 200)
    limited = replace(context, services=small)
    result = Registry.builtin().run("python", {"code": "x = bytearray(300_000_000)"}, limited)
    assert "MemoryError" in result


def test_files_cores_and_time_of_the_processor_are_limited(run: Run) -> None:
    code = (
        "import resource as r\n"
        "print(*(r.getrlimit(each)[0] for each in (r.RLIMIT_FSIZE, r.RLIMIT_CORE, r.RLIMIT_CPU)))\n"
        "print(r.getrlimit(r.RLIMIT_NPROC)[0] > 256)"
    )
    cores = os.cpu_count() or 1
    assert run("python", code=code, timeout=7) == (
        f"1000000000 0 {7 * cores + 1}\nTrue\n[exit code 0]"
    )


def test_time_is_limited_and_nothing_is_left(run: Run, context: ToolContext) -> None:
    code = (
        "import os, subprocess\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "print('begun')\n"
        "child.wait()"
    )
    assert run("python", code=code, timeout=1).startswith("begun\n[timed out after 1 seconds")
    root = context.workspace.root
    assert eventually(lambda: not any(map(is_running, pids_in(root))))


def test_no_secret_and_no_variable_of_python_reaches_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "PYTHONSTARTUP", "PYTHONPATH"):
        monkeypatch.setenv(name, "/canary")
    code = "import os, sys\nprint(dict(os.environ), sys.path)"
    assert "canary" not in run("python", code=code)


def test_the_code_is_not_among_the_arguments_that_others_can_read(run: Run) -> None:
    result = run("python", code="print(open('/proc/self/cmdline').read(), 'secret' + 'word')")
    assert "secretword" in result
    assert "'secret'" not in result


def test_long_output_is_cut_in_the_middle_and_can_be_read(run_served: Run) -> None:
    result = run_served("python", code="for i in range(100000): print(i)")
    assert result.startswith("0\n1\n")
    assert result.endswith("99999\n[exit code 0]")
    assert "read_output(id=" in result


def test_the_run_is_told(run_served: Run, events: list[Event]) -> None:
    run_served("python", code="import sys\nsys.exit(2)")
    [told] = events
    assert isinstance(told, CommandRan)
    assert told.command == "python: import sys\nsys.exit(2)"
    assert (told.call_id, told.exit_code) == ("call_1", 2)


@pytest.mark.parametrize("code", ["\ud800", "x" * 200_000])
def test_impossible_code_is_explained(run: Run, code: str) -> None:
    assert run("python", code=code).startswith("The code ")
