"""Commands run in what the operator chose, and in nothing less."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.settings.tool_settings import ToolSettings
from hermes.tools.base import ToolContext
from hermes.tools.problem import ToolProblem
from hermes.tools.process_group import Command
from hermes.tools.registry import Registry
from hermes.tools.sandbox import PROGRAM, Sandbox, Shown, Walls, inside, problem_with, system_places
from tests.unit.tools.processes import eventually, is_running

Run = Callable[..., str]

COMMAND = Command(
    argv=("bash", "-c", "true"), directory=Path("/w/sub"), environment={"A": "1"}, timeout=5
)
WALLS = Walls(program="/bin/bwrap", shown=(Shown("/bin", "/usr/bin"),), workspace=Path("/w"))


def follows(argv: list[str], *words: str) -> bool:
    """Whether the words stand in the arguments, one after another."""
    return any(tuple(argv[at : at + len(words)]) == words for at in range(len(argv)))


def test_the_command_stands_behind_the_walls_as_it_was() -> None:
    argv = list(inside(WALLS, COMMAND).argv)
    assert argv[0] == "/bin/bwrap"
    assert argv[argv.index("--") + 1 :] == ["bash", "-c", "true"]
    assert follows(argv, "--chdir", "/w/sub")
    for wall in ("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"):
        assert wall in argv
    assert follows(argv, "--cap-drop", "ALL")


def test_the_workspace_is_writable_and_comes_after_all_that_could_cover_it() -> None:
    argv = list(inside(WALLS, COMMAND).argv)
    at = argv.index("--bind")
    assert argv[at : at + 3] == ["--bind", "/w", "/w"]
    assert at > max(at for at, word in enumerate(argv) if word in ("--ro-bind", "--tmpfs"))
    assert follows(argv, "--ro-bind", "/usr/bin", "/bin")


def test_there_is_no_network_unless_it_is_wanted() -> None:
    assert "--unshare-net" in inside(WALLS, COMMAND).argv
    assert "--unshare-net" not in inside(replace(WALLS, has_network=True), COMMAND).argv


def test_the_environment_is_no_argument_that_others_could_read() -> None:
    wrapped = inside(WALLS, replace(COMMAND, environment={"A": "visible?", "TMPDIR": "/x"}))
    assert not any("visible?" in word for word in wrapped.argv)
    assert wrapped.environment == {"A": "visible?", "TMPDIR": "/tmp"}


def test_the_home_is_hidden_where_it_lies_in_the_workspace() -> None:
    hiding = replace(WALLS, hidden=Path("/w/.hermes"))
    argv = list(inside(hiding, COMMAND).argv)
    assert follows(argv, "--bind", "/w", "/w", "--tmpfs", "/w/.hermes")


def test_only_places_that_exist_are_shown(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    shown = system_places([str(link), "/no/such/place"])
    assert Shown(str(link), str(tmp_path.resolve())) in shown
    assert "/no/such/place" not in {each.path for each in shown}
    assert not {"/etc", "/home", "/root", "/var"} & {each.path for each in shown}


def test_local_leaves_the_command_alone() -> None:
    assert Sandbox().around(COMMAND, Path("/w")) is COMMAND


@pytest.mark.parametrize("tool", ["terminal", "python"])
def test_without_bubblewrap_nothing_runs(
    context: ToolContext, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox = Sandbox(lambda: ToolSettings(sandbox="bubblewrap"))
    boxed = replace(context, services=replace(context.services, sandbox=sandbox))
    arguments = {"terminal": {"command": "echo ran > f"}, "python": {"code": "open('f', 'w')"}}
    refused = Registry.builtin().run(tool, arguments[tool], boxed)
    assert refused.startswith(
        "Not run: the operator wants commands in a sandbox, but bubblewrap is"
    )
    assert list(context.workspace.root.iterdir()) == []


def test_a_bubblewrap_that_does_not_work_is_reported_in_its_own_words(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create namespace' >&2\nexit 1\n")
    broken.chmod(0o700)
    problem = problem_with(str(broken))
    assert problem is not None
    assert "(No permissions to create namespace)" in problem
    assert "user namespaces" in problem
    assert problem_with(str(tmp_path / "none")) == "bubblewrap does not start (FileNotFoundError)"


def test_what_is_mended_while_the_server_runs_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / PROGRAM
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sandbox = Sandbox(lambda: ToolSettings(sandbox="bubblewrap"))
    with pytest.raises(ToolProblem):
        sandbox.around(COMMAND, Path("/w"))
    program.write_text("#!/bin/sh\nexit 0\n")
    assert sandbox.around(COMMAND, Path("/w")).argv[0] == str(program)


def test_a_folder_outside_the_workspace_is_refused_in_words() -> None:
    sandbox = Sandbox(lambda: ToolSettings(sandbox="bubblewrap"))
    with pytest.raises(ToolProblem, match="shows the workspace only"):
        sandbox.around(COMMAND, Path("/elsewhere"))


@pytest.mark.parametrize(
    ("home", "is_hidden"), [("w/h", True), ("w/link", False), ("w", False), ("h", False)]
)
def test_only_a_home_that_lies_in_the_workspace_has_to_be_hidden(
    tmp_path: Path, home: str, is_hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / PROGRAM
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for folder in ("w/h", "h"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "w/link").symlink_to(tmp_path / "h")
    sandbox = Sandbox(lambda: ToolSettings(sandbox="bubblewrap"), lambda: tmp_path / home)
    workspace = tmp_path / "w"
    argv = list(sandbox.around(replace(COMMAND, directory=workspace), workspace).argv)
    assert follows(argv, "--tmpfs", str(workspace / "h")) is is_hidden


# --- for real -------------------------------------------------------------------------------------


@pytest.fixture
def tool_settings() -> ToolSettings:
    """Skips where bubblewrap cannot be had."""
    problem = problem_with(shutil.which(PROGRAM))
    if problem:
        pytest.skip(problem)
    return ToolSettings(sandbox="bubblewrap")


def test_the_workspace_can_be_changed_and_nothing_else(
    run_served: Run, served: ToolContext
) -> None:
    for place in ("/usr", "/etc", "/"):
        target = f"{place}/hermes-{os.getpid()}"
        assert "Read-only file system" in run_served("terminal", command=f"touch {target}")
        assert not Path(target).exists()
    made = served.workspace.root / "made"
    run_served("terminal", command="echo x > made; echo y > /tmp/beside && cat /tmp/beside >> made")
    assert made.read_text() == "x\ny\n"


def test_other_folders_are_not_there(run_served: Run, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("api_key: canary")
    result = run_served("terminal", command=f"cat {tmp_path}/home/config.yaml; ls /root /var")
    assert "canary" not in result
    assert result.count("No such file") >= 2


def test_there_is_no_way_to_the_network(run_served: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        assert "ConnectionRefusedError" in run_served("python", code=code)


def test_processes_of_the_machine_cannot_be_seen(run_served: Run) -> None:
    result = run_served(
        "terminal", command=f"ls -d /proc/{os.getpid()}; ls -d /proc/[0-9]* | wc -l"
    )
    assert "No such file" in result
    assert int(result.splitlines()[1]) < 10


def test_python_runs_in_it_with_its_limits(run_served: Run) -> None:
    assert run_served("python", code="import json, os\nprint(os.getcwd())").endswith(
        "workspace\n[exit code 0]"
    )
    assert "MemoryError" in run_served("python", code="x = bytearray(10**11)")


def test_a_timeout_leaves_nothing_running(run_served: Run) -> None:
    before = sandboxed()
    assert "[timed out" in run_served("terminal", command="sleep 301 & sleep 301", timeout=1)
    assert eventually(lambda: sandboxed() <= before)


def test_a_process_in_the_background_lives_in_it_and_ends_completely(run_served: Run) -> None:
    before = sandboxed()
    result = run_served("terminal", command="setsid sleep 302 & sleep 302", background=True)
    name = result.rpartition('id="')[2].partition('"')[0]
    assert sandboxed() - before
    assert "[ended by" in run_served("process", action="kill", id=name)
    assert eventually(lambda: sandboxed() <= before)


def test_a_process_in_the_background_outlives_the_thread_that_asked_for_it(
    run_served: Run,
) -> None:
    results: list[str] = []

    def ask() -> None:
        results.append(run_served("terminal", command="sleep 303", background=True))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    name = results[0].rpartition('id="')[2].partition('"')[0]
    assert "[running for" in run_served("process", action="wait", id=name, seconds=1)


def sandboxed() -> set[int]:
    """Every process of this machine that runs one of the commands above."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and words[1] in (b"301", b"302", b"303"):
            found.add(int(place.parent.name))
    return {pid for pid in found if is_running(pid)}


def test_the_model_is_told_of_a_sandbox_and_of_nothing_else() -> None:
    def told(**settings: object) -> str:
        return Sandbox(lambda: ToolSettings(**settings)).in_words()  # type: ignore[arg-type]

    assert told() == ""
    assert "without network" in told(sandbox="bubblewrap")
    assert "with network" in told(sandbox="bubblewrap", sandbox_network=True)
