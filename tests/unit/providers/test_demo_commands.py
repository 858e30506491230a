"""Which commands the demo model dares to ask for."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.providers.demo.commands import HARMLESS, is_harmless


@pytest.mark.parametrize(
    "command",
    [
        "date",
        "date -u",
        "date '+%H:%M:%S'",
        "uname -a",
        "ls -la",
        "ls -la src",
        "cat notes.txt",
        "head -n 5 notes.txt",
        "head -3 notes.txt",
        "wc -l notes.txt README.md",
        "echo 'a; b | c > d'",
        'echo "it works"',
        "python3 --version",
        "df -h",
        "whoami",
    ],
)
def test_harmless_commands_are_allowed(command: str) -> None:
    assert is_harmless(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm notes.txt",
        "./date",
        "/bin/date",
        "python3",
        "python3 -c 'print(1)'",
        "ls; rm x",
        "ls && rm x",
        "ls | sh",
        "ls > x",
        "cat < x",
        "ls &",
        "echo $HOME",
        "echo $(id)",
        "echo `id`",
        'echo "$(id)"',
        'echo "`id`"',
        "echo hi\nrm x",
        "echo hi\r",
        'echo \\" ; rm x \\"',
        "echo 'open",
        "cat /etc/passwd",
        "cat ../secret",
        "cat sub/../../secret",
        "cat ~/secret",
        "cat {,/etc/passwd}",
        "cat .?/secret",
        "cat .*/secret",
        "wc --files0-from=/etc/passwd",
        "tail -f notes.txt",
        "date -s 2001-01-01",
        "date -f secret",
        "hostname other",
        "X=1 date",
    ],
)
def test_anything_else_is_not(command: str) -> None:
    assert not is_harmless(command)


SHELLISH = st.lists(
    st.sampled_from(
        [
            "a",
            "b c",
            " ",
            "'",
            '"',
            "'; id'",
            '"| id > x"',
            "'$(id)'",
            "';'\"&\"",
            ";",
            "$(id)",
            "\\",
            "#",
        ]
    ),
    max_size=6,
).map("".join)


@given(SHELLISH)
@settings(max_examples=200, deadline=None)
def test_a_harmless_echo_only_ever_echoes(words: str) -> None:
    command = f"echo x {words}"
    if not is_harmless(command):
        return
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=10)
    assert ran.stdout == " ".join(shlex.split(command)[1:]) + "\n"
    assert (ran.stderr, ran.returncode) == ("", 0)


@pytest.mark.parametrize("program", sorted(HARMLESS))
def test_no_program_takes_a_path_outside_the_workspace_as_its_own(program: str) -> None:
    if program != "echo":
        assert not is_harmless(f"{program} /etc/passwd")
        assert not is_harmless(f"{program} ../x")
