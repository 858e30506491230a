"""The terminal runs one command, tells how it ended and lets nothing leak in or out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry

Run = Callable[..., str]


def test_output_is_followed_by_the_exit_code(run: Run) -> None:
    assert run("terminal", command="echo hello; exit 2") == "hello\n[exit code 2]"


def test_silence_is_said(run: Run) -> None:
    assert run("terminal", command="true") == "(no output)\n[exit code 0]"


def test_a_signal_is_named(run: Run) -> None:
    assert run("terminal", command="kill -SEGV $$").endswith("[ended by signal SIGSEGV]")


def test_commands_start_in_the_workspace_which_is_their_home(
    run: Run, context: ToolContext
) -> None:
    root = str(context.workspace.root)
    assert run("terminal", command="pwd; echo $HOME") == f"{root}\n{root}\n[exit code 0]"


def test_workdir_is_inside_the_workspace(run: Run, context: ToolContext) -> None:
    (context.workspace.root / "sub").mkdir()
    assert run("terminal", command="pwd", workdir="sub").startswith(
        f"{context.workspace.root}/sub\n"
    )
    assert "outside the workspace" in run("terminal", command="pwd", workdir="..")
    assert "not an existing directory" in run("terminal", command="pwd", workdir="none")


def test_the_environment_holds_no_secrets(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "LC_TOKEN", "SERVER_SETTING", "CI_PASSWORD", "CI_JOB"):
        monkeypatch.setenv(name, "canary")
    allowing = replace(context, extra_environment=("CI_*",))
    output = Registry.builtin().run("terminal", {"command": "env"}, allowing)
    assert [line for line in output.splitlines() if "canary" in line] == ["CI_JOB=canary"]
    assert f"HOME={context.workspace.root}" in output.splitlines()


def test_a_timeout_is_told_with_advice(run: Run) -> None:
    result = run("terminal", command="echo begun; sleep 300", timeout=1)
    assert result.startswith("begun\n[timed out after 1 seconds and was ended")
    assert "at most 600" in result


def test_a_timeout_beyond_the_maximum_is_refused(run: Run) -> None:
    assert "`timeout` must be between 1 and 600" in run("terminal", command="true", timeout=601)


def test_an_interrupt_is_told_within_a_second(run: Run, context: ToolContext) -> None:
    timer = threading.Timer(0.2, context.stop.set)
    timer.start()
    started = time.monotonic()
    assert "[interrupted" in run("terminal", command="sleep 300 & sleep 300")
    assert time.monotonic() - started < 1.2
    timer.join()


def test_background_processes_are_reported_as_ended(run: Run) -> None:
    result = run("terminal", command="sleep 300 & echo started")
    assert result == "started\n[exit code 0; background processes were ended]"


def test_long_output_is_cut_in_the_middle(run: Run) -> None:
    result = run("terminal", command="echo first; seq 1 100000; echo last")
    assert result.startswith("first\n1\n")
    assert result.endswith("100000\nlast\n[exit code 0]")
    assert " bytes cut …" in result


def test_progress_shows_the_newest_line_once_a_second(run: Run, reports: list[str]) -> None:
    run("terminal", command="for i in $(seq 1 30); do echo line $i; sleep 0.05; done")
    assert len(reports) == 1
    assert reports[0].startswith("line ")


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800"])
def test_impossible_characters_are_explained(run: Run, command: str) -> None:
    assert "characters that no command can have" in run("terminal", command=command)


def test_a_command_too_long_to_start_is_explained(run: Run) -> None:
    assert "write it to a file" in run("terminal", command="x" * 200_000)
