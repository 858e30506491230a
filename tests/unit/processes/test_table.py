"""What `/proc` says is read right, whatever a process calls itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hermes.processes.table import Process, everybody, look_at, parse_stat

NUMBERS = "1 77 78 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 98"


@pytest.mark.parametrize("name", ["sleep", "a b", ") Z 1 (", "((", ""])
def test_a_name_does_not_disturb_the_numbers_behind_it(name: str) -> None:
    assert parse_stat(9, f"9 ({name}) S {NUMBERS}") == Process(
        pid=9, parent=1, session=78, born=4711, is_over=False
    )


def test_who_waits_to_be_reaped_is_over() -> None:
    process = parse_stat(9, f"9 (sleep) Z {NUMBERS}")
    assert process is not None and process.is_over


@pytest.mark.parametrize("line", ["", "9 (sleep", "9 (sleep) S 1", "9 (sleep) S a b c d"])
def test_a_line_that_is_none_is_nobody(line: str) -> None:
    assert parse_stat(9, line) is None


def test_we_are_in_the_table_with_our_parent() -> None:
    [own] = [process for process in everybody() if process.pid == os.getpid()]
    assert (own.parent, own.session) == (os.getppid(), os.getsid(0))
    assert not own.is_over


def test_nobody_is_found_under_a_number_that_is_free() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert look_at(done.pid) is None
