"""`codex exec --json`, line by line and without a process."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.codex_exec import ExecPeer
from hermes.backends.jobs import CliSession, Question, Setup
from hermes.backends.saying import (
    CloseInput,
    Concluded,
    EndKind,
    Event,
    Exit,
    MessageEnded,
    Said,
    Started,
    Step,
    StopReason,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
    Write,
)
from hermes.core.usage import Usage

THREAD = "01a1e07f-09d3-7600-b832-4e53fd704384"
STARTED = {"type": "thread.started", "thread_id": THREAD}
ENDED = Exit(code=0)


def item(event: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": "item_1", "type": kind, **fields}}


def completed(read: int = 120, written: int = 30) -> dict[str, Any]:
    usage = {"input_tokens": read, "cached_input_tokens": 20, "output_tokens": written}
    return {"type": "turn.completed", "usage": usage}


def heard(peer: ExecPeer, *told: dict[str, Any]) -> list[Event | Step]:
    return [event for line in told for event in peer.read(json.dumps(line).encode())]


def new(session: CliSession | None = None) -> ExecPeer:
    return ExecPeer(Setup(job_id="j", model="gpt-5.5", session=session))


def test_the_question_goes_in_by_stdin_and_is_all_there_is() -> None:
    question = Question(text="--version 😀")
    assert new().ask(question) == [Write("--version 😀".encode()), CloseInput()]


def test_a_message_is_said_and_answers() -> None:
    peer = new()
    events = heard(
        peer,
        STARTED,
        {"type": "turn.started"},
        item("completed", "reasoning", text="**Thinking**"),
        item("completed", "agent_message", text="echo: hi"),
        completed(),
    )
    assert events == [
        Started(THREAD, "gpt-5.5"),
        Thought("**Thinking**"),
        Said("echo: hi"),
        MessageEnded("echo: hi"),
        Concluded(),
    ]
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.text) == (EndKind.ANSWERED, "echo: hi")
    assert ending.session_id is None  # nothing is kept of it


def test_the_totals_of_a_resumed_thread_are_not_the_jobs() -> None:
    before = Usage(input_tokens=120, output_tokens=30, total_tokens=150, cached_tokens=20)
    peer = new(CliSession(id=THREAD, is_resumed=True, used_before=before))
    heard(peer, STARTED, completed(240, 70))
    ending = peer.finish(ENDED)
    assert ending.usage == Usage(input_tokens=120, output_tokens=40, total_tokens=160)
    assert ending.session_usage.total_tokens == 310
    assert ending.session_id == THREAD


def test_a_turn_that_is_tried_again_says_nothing_twice() -> None:
    retry = "Reconnecting... 1/1 (stream disconnected before completion)"
    events = heard(
        new(),
        item("completed", "agent_message", text="echo"),
        {"type": "error", "message": retry},
        {
            "type": "item.completed",
            "item": {"id": "item_2", "type": "agent_message", "text": "echo: hi"},
        },
    )
    assert [event.text for event in events if isinstance(event, Said)] == ["echo", ": hi"]
    assert Told("cli_retry", retry) in events


def test_commands_are_tools_with_their_output() -> None:
    line = "/bin/bash -lc 'exit 3'"
    done = {"command": line, "aggregated_output": "hello\n", "exit_code": 3, "status": "failed"}
    events = heard(
        new(),
        item("started", "command_execution", command=line, status="in_progress"),
        item("completed", "command_execution", **done),
    )
    assert events == [
        ToolCalled("item_1", "command_execution", {"command": line}),
        ToolAnswered("item_1", "command_execution", "hello\n", is_error=True),
    ]


def test_an_item_that_is_an_error_is_a_warning() -> None:
    events = heard(new(), item("completed", "error", message="Model metadata not found."))
    assert events == [Told("cli_warning", "Model metadata not found.")]


def test_a_failed_turn_is_told_in_codexs_words() -> None:
    peer = new()
    message = "unexpected status 401 Unauthorized: no"
    heard(peer, {"type": "error", "message": message})
    heard(peer, {"type": "turn.failed", "error": {"message": message}})
    ending = peer.finish(Exit(code=1))
    assert (ending.kind, ending.error, ending.code) == (EndKind.FAILED, message, "authentication")


def test_an_error_before_the_turn_is_the_reason_of_the_end() -> None:
    peer = new()
    heard(peer, {"type": "error", "message": "the model is not supported"})
    assert peer.finish(Exit(code=1)).error == "the model is not supported"


def test_a_result_does_not_outweigh_the_exit_code() -> None:
    peer = new()
    heard(peer, item("completed", "agent_message", text="hi"), completed())
    assert peer.finish(Exit(code=1)).kind is EndKind.FAILED


def test_an_exit_code_of_zero_without_a_result_is_no_answer() -> None:
    peer = new()
    heard(peer, item("completed", "agent_message", text="hi"))
    assert peer.finish(ENDED).kind is EndKind.FAILED
    cut = peer.finish(Exit(code=0, last_line_is_whole=False))
    assert cut.code == "cli_output_truncated"


def test_an_unknown_session_is_told_on_stderr_alone() -> None:
    stderr = f"Error: thread/resume failed: no rollout found for thread id {THREAD}"
    ending = new(CliSession(id=THREAD, is_resumed=True)).finish(Exit(code=1, stderr=stderr))
    assert ending.code == "cli_session_unknown"


def test_it_is_stopped_by_signals_alone() -> None:
    peer = new()
    assert (peer.greet(), peer.interrupt(), peer.dismiss()) == ([], [], [])
    heard(peer, item("completed", "agent_message", text="hi"))
    ending = peer.finish(Exit(code=-2, stopped=StopReason.ASKED))
    assert (ending.kind, ending.text) == (EndKind.STOPPED, "hi")


@given(st.dictionaries(st.sampled_from(["type", "item", "usage"]), st.integers() | st.text()))
def test_nothing_that_it_prints_makes_it_raise(line: dict[str, Any]) -> None:
    peer = new()
    heard(peer, line)
    peer.read(b"\xff{")
    assert peer.finish(ENDED).kind is not EndKind.ANSWERED
