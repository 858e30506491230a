"""Commands in the background outlive their call, are looked after, and belong to somebody."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hermes.core.events import CommandRan, Event
from hermes.tools.background import Processes
from hermes.tools.base import Scope, ToolContext
from hermes.tools.registry import Registry
from tests.unit.tools.processes import eventually, is_running, pids_in

Run = Callable[..., str]
FOREVER = "echo $$ > pids; echo ready; sleep 300"


def started(run: Run, command: str = FOREVER, **arguments: Any) -> str:
    """The id of a command that runs in the background."""
    result = run("terminal", command=command, background=True, **arguments)
    assert "[runs in the background: " in result, result
    return result.rpartition('id="')[2].partition('"')[0]


def as_other(served: ToolContext, **scope: str) -> Run:
    context = replace(served, scope=replace(served.scope, **scope))
    return lambda name, **arguments: Registry.builtin().run(name, arguments, context)


def test_it_runs_on_after_the_call_and_is_ended_by_kill(
    run_served: Run, served: ToolContext
) -> None:
    name = started(run_served)
    root = served.workspace.root
    assert eventually(lambda: len(pids_in(root)) == 1)
    assert is_running(pids_in(root)[0])
    assert "running for" in run_served("process", action="poll", id=name)

    killed = run_served("process", action="kill", id=name)

    assert "[ended by process(action=kill) after" in killed
    assert eventually(lambda: not is_running(pids_in(root)[0]))


def test_poll_tells_only_what_is_new(run_served: Run, served: ToolContext) -> None:
    gate = served.workspace.root / "gate"
    name = started(run_served, "echo first; until test -e gate; do sleep 0.02; done; echo second")
    gate.touch()
    waited = run_served("process", action="wait", id=name, seconds=30)
    assert waited == "second\n[exit code 0 after " + waited.partition("after ")[2]
    assert run_served("process", action="poll", id=name).startswith("(no new output)\n[exit code 0")
    assert run_served("process", action="log", id=name).startswith("first\nsecond\n[bytes 0 to 13 ")


def test_log_pages_through_the_output(run_served: Run) -> None:
    name = started(run_served, "seq 1 1000; sleep 300")
    assert eventually(
        lambda: "of 3,893;" in run_served("process", action="log", id=name, limit=100)
    )
    page = run_served("process", action="log", id=name, offset=0, limit=100)
    assert page.startswith("1\n2\n3\n")
    assert "[bytes 0 to 100 of 3,893; go on with offset=100; running for" in page
    assert (
        run_served("process", action="log", id=name, limit=100).partition("\n[")[0].endswith("1000")
    )


def test_a_long_poll_shows_the_end_and_says_what_it_left_out(
    run_served: Run, served: ToolContext
) -> None:
    name = started(run_served, "until test -e gate; do sleep 0.02; done; seq 1 1000")
    (served.workspace.root / "gate").touch()
    shown = run_served("process", action="wait", id=name, limit=100)
    assert shown.startswith("[3,793 bytes before this were not shown; see log]\n")
    assert "\n1000\n[exit code 0 after" in shown


def test_a_command_that_fails_at_once_says_so(run_served: Run) -> None:
    result = run_served("terminal", command="echo no; exit 3", background=True)
    assert result.startswith("no\n[proc_")
    assert result.endswith("has ended already: exit code 3]")


def test_a_wait_ends_with_its_time_and_with_the_turn(run_served: Run, served: ToolContext) -> None:
    name = started(run_served)
    assert "[running for" in run_served("process", action="wait", id=name, seconds=1)
    timer = threading.Timer(0.1, served.stop.set)
    timer.start()
    assert "[running for" in run_served("process", action="wait", id=name, seconds=600)
    timer.join()


def test_kill_reaches_what_ignores_it_and_what_it_started(
    run_served: Run, served: ToolContext
) -> None:
    line = (
        "trap '' TERM; sleep 300 & echo $! $$ > pids; setsid sleep 300 & echo $! >> pids; "
        "echo ready; while true; do sleep 9; done"
    )
    name = started(run_served, line)
    root = served.workspace.root
    assert eventually(lambda: len(pids_in(root)) == 3)
    assert "[ended by" in run_served("process", action="kill", id=name)
    assert eventually(lambda: not any(map(is_running, pids_in(root))))


def test_what_it_leaves_behind_ends_with_it(run_served: Run, served: ToolContext) -> None:
    name = started(run_served, "sleep 300 & echo $! > pids; sleep 0.6")
    assert "[exit code 0" in run_served("process", action="wait", id=name, seconds=30)
    assert eventually(lambda: not is_running(pids_in(served.workspace.root)[0]))


def test_the_list_shows_those_of_this_conversation_only(
    run_served: Run, served: ToolContext
) -> None:
    assert run_served("process", action="list") == "No processes in the background."
    name = started(run_served, "sleep 300")
    assert run_served("process", action="list").startswith(f"{name}: running for ")
    assert "No processes" in as_other(served, session_id="s2")("process", action="list")
    assert "No processes" in as_other(served, owner="bob")("process", action="list")


@pytest.mark.parametrize("action", ["poll", "log", "wait", "kill"])
@pytest.mark.parametrize("other", [{"owner": "bob"}, {"session_key": "eve"}])
def test_another_caller_cannot_touch_it_even_with_its_id(
    run_served: Run, served: ToolContext, action: str, other: dict[str, str]
) -> None:
    name = started(run_served)
    refused = as_other(served, **other)("process", action=action, id=name)
    assert refused.startswith(f"There is no process '{name}' here")
    assert "[running for" in run_served("process", action="poll", id=name)


def test_a_chat_that_others_may_be_named_like_uses_ids_only(served: ToolContext) -> None:
    run = as_other(served, session_id="api-0123456789abcdef")
    name = started(run)
    assert "use the ids" in run("process", action="list")
    assert "[running for" in run("process", action="poll", id=name)


def test_one_conversation_cannot_have_too_many(served: ToolContext) -> None:
    processes = Processes(lambda: 2)
    try:
        run = _with(served, processes)
        names = [started(run) for _ in range(2)]
        refused = run("terminal", command="true", background=True)
        assert refused.startswith("Not started: 2 commands run in the background already")
        assert "[runs in" in _with(served, processes, session_id="s2")(
            "terminal", command="sleep 300", background=True
        )
        run("process", action="kill", id=names[0])
        started(run)
    finally:
        processes.close()


def test_none_are_allowed_where_the_settings_say_so(served: ToolContext) -> None:
    run = _with(served, Processes(lambda: 0))
    assert "Not started" in run("terminal", command="true", background=True)


def test_ended_ones_are_forgotten_after_a_while(run_served: Run) -> None:
    for _ in range(20):
        run_served("terminal", command="true", background=True)
    assert len(run_served("process", action="list").splitlines()) <= 17


def test_they_end_with_the_server(served: ToolContext) -> None:
    processes = Processes(lambda: 16)
    run = _with(served, processes)
    for _ in range(3):
        started(run, "trap '' TERM; echo $$ >> pids; while true; do sleep 9; done")
    root = served.workspace.root
    assert eventually(lambda: len(pids_in(root)) == 3)
    processes.close()
    assert eventually(lambda: not any(map(is_running, pids_in(root))))
    assert "about to stop" in run("terminal", command="true", background=True)


def test_the_end_is_told_to_the_run_that_started_it(
    run_served: Run, served: ToolContext, events: list[Event]
) -> None:
    name = started(run_served, "sleep 0.6; exit 4")
    assert events == []
    run_served("process", action="wait", id=name)
    assert eventually(lambda: bool(events))
    [told] = events
    assert isinstance(told, CommandRan)
    assert (told.call_id, told.command, told.exit_code) == ("call_1", "sleep 0.6; exit 4", 4)
    assert told.seconds >= 0.6


def test_a_run_that_is_over_is_neither_told_nor_kept_alive(served: ToolContext) -> None:
    class Agent:
        def __init__(self) -> None:
            self.heard = gone

        def emit(self, event: Event) -> None:
            raise AssertionError("nobody listens any more")

        def __del__(self) -> None:
            self.heard.set()

    gone = threading.Event()
    agent = Agent()
    context = replace(served, emit=agent.emit)
    run = _in(context)
    name = started(run)
    del agent, context, run
    gc.collect()
    assert gone.wait(5)
    assert "[ended by" in _in(served)("process", action="kill", id=name)


def test_without_a_server_there_is_no_background(run: Run) -> None:
    assert "run it in the foreground" in run("terminal", command="true", background=True)


def test_without_a_server_the_tool_is_not_offered(context: ToolContext) -> None:
    usable = Registry.builtin().usable(context.services)
    assert "process" not in usable.names()
    assert "need a server" in usable.run("process", {"action": "list"}, context)


def test_impossible_commands_are_explained_and_forgotten(run_served: Run) -> None:
    refused = run_served("terminal", command="echo a\0b", background=True)
    assert "characters that no command can have" in refused
    assert run_served("process", action="list") == "No processes in the background."


def test_a_firehose_is_ended(served: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes.tools.builtin.terminal._MOST_PRINTED", 1_000_000)
    run = _in(served)
    result = run("terminal", command="yes", background=True)
    name = result.rpartition("proc_")[2][:24]
    waited = run("process", action="wait", id=f"proc_{name}", seconds=30)
    assert "because it printed far too much]" in waited


def test_environment_and_home_are_those_of_every_command(
    run_served: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary")
    result = run_served("terminal", command="env; exit 1", background=True)
    assert "canary" not in result
    assert "HERMES_COMMAND=cmd_" in result


def _in(context: ToolContext) -> Run:
    return lambda name, **arguments: Registry.builtin().run(name, arguments, context)


def _with(served: ToolContext, processes: Processes, session_id: str = "s1") -> Run:
    services = replace(served.services, processes=processes)
    scope = Scope(owner="ann", session_id=session_id)
    return _in(replace(served, services=services, scope=scope))


def test_settings_are_read_when_a_command_starts(served: ToolContext) -> None:
    most = [1]
    processes = Processes(lambda: most[0])
    try:
        run = _with(served, processes)
        started(run)
        assert "Not started" in run("terminal", command="true", background=True)
        most[0] = 2
        started(run)
    finally:
        processes.close()
