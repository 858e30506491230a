"""Servers are connected, mended and ended; what goes wrong with one is text, and only its own."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from hermes.core.remote_tools import ServerStatus
from hermes.mcp import sdk
from hermes.mcp.servers import McpServers
from hermes.settings.mcp_settings import McpServerSettings, McpSettings
from tests.unit.mcp.serving import HERE, call, connected, is_alive, plain, state, until


def said_by(text: str) -> dict[str, object]:
    said = json.loads(text)
    assert isinstance(said, dict)
    return said


def test_a_tool_of_a_server_is_called_with_its_arguments() -> None:
    with connected(plain("one")) as servers:
        answer = call(servers, "mcp_one_echo", text="hello", deep={"a": [1, None]})

    assert not answer.is_problem
    assert said_by(answer.text)["arguments"] == {"text": "hello", "deep": {"a": [1, None]}}


def test_the_same_tuple_is_returned_while_nothing_changes() -> None:
    with connected(plain("one")) as servers:
        first = servers.tools()
        call(servers, "mcp_one_echo")

        assert servers.tools() is first


def test_two_servers_may_have_tools_of_the_same_name() -> None:
    with connected(plain("one", "tools=echo"), plain("two", "tools=echo")) as servers:
        one, two = (said_by(call(servers, f"mcp_{each}_echo").text) for each in ("one", "two"))

        assert [tool.name for tool in servers.tools()] == ["mcp_one_echo", "mcp_two_echo"]
        assert one["pid"] != two["pid"]


def test_only_what_the_lists_allow_is_offered() -> None:
    chosen = plain("one", "tools=read_a,read_b,write", tools=("read_*",), exclude=("*_b",))
    with connected(chosen) as servers:
        assert [tool.name for tool in servers.tools()] == ["mcp_one_read_a"]


def test_a_server_that_is_away_keeps_no_other_from_working() -> None:
    others = (
        McpServerSettings(name="missing", command="/no/such/command"),
        McpServerSettings(name="refusing", url="http://127.0.0.1:9/mcp"),
        plain("off", enabled=False),
    )
    with connected(*others, plain("good")) as servers:
        assert not call(servers, "mcp_good_echo").is_problem
        assert state(servers, "missing").status is ServerStatus.UNREACHABLE
        assert "'/no/such/command' does not exist" in state(servers, "missing").problem
        assert state(servers, "refusing").problem == "nothing answers at its url"
        assert state(servers, "off").status is ServerStatus.DISABLED


def test_a_server_that_never_answers_the_handshake_is_given_up_in_time() -> None:
    with connected(plain("deaf", "deaf", connect_timeout_seconds=1.5)) as servers:
        problem = state(servers, "deaf").problem

    assert "did not answer within 1.5 seconds" in problem
    assert "ready for anything" in problem


def test_what_is_not_mcp_on_stdout_is_passed_over() -> None:
    with connected(plain("chatty", "chatty")) as servers:
        assert not call(servers, "mcp_chatty_echo").is_problem


def test_a_server_that_says_nothing_but_nonsense_is_not_connected() -> None:
    nonsense = "import sys\nfor line in sys.stdin: print('{\\'}', flush=True)"
    server = McpServerSettings(
        name="mad", command="python3", args=("-c", nonsense), connect_timeout_seconds=2
    )
    with connected(server) as servers:
        assert state(servers, "mad").status is ServerStatus.UNREACHABLE
        assert "something on stdout that is not MCP" in state(servers, "mad").problem


def test_a_server_that_cannot_bear_the_newer_protocol_is_asked_for_the_older_one() -> None:
    with connected(plain("shy", "modern-shy")) as servers:
        until(lambda: state(servers, "shy").status is ServerStatus.CONNECTED)

        assert not call(servers, "mcp_shy_echo").is_problem


def test_a_server_that_dies_in_a_call_says_so_and_is_there_again_for_the_next() -> None:
    with connected(plain("frail")) as servers:
        died = call(servers, "mcp_frail_die")
        again = call(servers, "mcp_frail_echo")

    assert died.is_problem
    assert "what it did so far is unknown" in died.text
    assert not again.is_problem


def test_a_server_that_was_killed_is_started_again_before_the_next_call() -> None:
    with connected(plain("killed")) as servers:
        pid = said_by(call(servers, "mcp_killed_echo").text)["pid"]
        os.kill(int(str(pid)), signal.SIGKILL)
        until(lambda: state(servers, "killed").status is not ServerStatus.CONNECTED)
        tools = servers.tools()

        assert tools, "the tools stay while the server is away"
        assert said_by(call(servers, "mcp_killed_echo").text)["pid"] != pid
        assert servers.tools() is tools


def test_a_call_to_a_server_that_stays_away_is_answered_with_why(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    source = Path(__file__).with_name("plain_server.py").read_text()
    script.write_text(source)
    server = McpServerSettings(
        name="lost", command="python3", args=(str(script),), connect_timeout_seconds=1
    )
    with connected(server) as servers:
        script.unlink()
        call(servers, "mcp_lost_die")
        answer = call(servers, "mcp_lost_echo")

    assert answer.is_problem
    assert "cannot be reached now" in answer.text
    assert "was not done" in answer.text


def test_a_call_that_takes_too_long_ends_and_the_server_is_told(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with connected(plain("slow", f"notes={notes}", timeout_seconds=0.3)) as servers:
        answer = call(servers, "mcp_slow_mute")
        until(notes.exists)

    assert "gave no answer within 0.3 seconds" in answer.text


def test_a_turn_that_is_stopped_ends_the_call_and_the_server_is_told(tmp_path: Path) -> None:
    notes, stop = tmp_path / "notes", threading.Event()
    with connected(plain("slow", f"notes={notes}")) as servers:
        threading.Timer(0.1, stop.set).start()
        answer = call(servers, "mcp_slow_mute", stop=stop)
        until(notes.exists)

    assert answer.is_problem
    assert "Interrupted" in answer.text


def test_a_refusal_is_told_in_the_servers_words() -> None:
    with connected(plain("one")) as servers:
        answer = call(servers, "mcp_one_refuse")

    assert answer.is_problem
    assert answer.text == "The MCP server one refused the call: not today"


def test_the_processes_end_when_the_servers_are_closed() -> None:
    with connected(plain("one"), plain("two")) as servers:
        pids = [
            int(str(said_by(call(servers, f"mcp_{each}_echo").text)["pid"]))
            for each in ("one", "two")
        ]
        tool = servers.tools()[0]
        assert all(map(is_alive, pids))

    assert not any(map(is_alive, pids))
    assert servers.tools()[0] is tool
    assert call(servers, "mcp_one_echo").text == "Not done: the gateway is shutting down."
    servers.close()


def test_closing_while_servers_are_being_connected_waits_for_nobody() -> None:
    deaf = McpSettings(servers=(plain("deaf", "deaf", connect_timeout_seconds=60),))
    servers = McpServers(deaf, environment={}, folder=HERE)
    servers.start()
    until(lambda: state(servers, "deaf").status is ServerStatus.CONNECTING)
    began = time.monotonic()
    servers.close()

    assert time.monotonic() - began < 5
    assert servers.tools() == ()


def test_without_the_sdk_the_servers_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes.mcp.servers.is_installed", lambda: False)
    with connected(plain("one")) as servers:
        assert state(servers, "one").status is ServerStatus.UNAVAILABLE
        assert state(servers, "one").problem == sdk.MISSING
        assert servers.tools() == ()
