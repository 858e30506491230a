"""A turn as a session stream: numbered, complete, and with this turn's messages at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from hermes.core.events import (
    Event,
    Idle,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from hermes.core.messages import Message
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.session_stream import SessionEncoder
from hermes.wire.sse import KEEPALIVE
from tests.unit.wire.event_logs import logs, streamed_text
from tests.unit.wire.sse_reader import Received, read

HISTORY: list[Message] = [
    {"role": "user", "content": "old?"},
    {"role": "assistant", "content": "old."},
]


def encoder(history: Sequence[Message] = ()) -> SessionEncoder:
    return SessionEncoder(
        run_id="run_1",
        session_id="s1",
        message_id="msg_1",
        opening=[{"role": "user", "content": "new?"}],
        history=history,
    )


def stream(log: Sequence[Event], history: Sequence[Message] = ()) -> list[Received]:
    using = encoder(history)
    return read(using.opening() + b"".join(using.encode(event) for event in log))


def names(received: list[Received]) -> list[str]:
    return [one.event for one in received]


def data(received: list[Received], name: str) -> dict[str, Any]:
    [found] = [one.json for one in received if one.event == name]
    assert isinstance(found, dict)
    return found


def test_a_turn_is_told_from_start_to_done():
    received = stream(
        [
            ReasoningDelta("hm"),
            TextDelta("Wait."),
            SegmentEnd(),
            ToolStarted("c", "terminal", {"cmd": "ls"}),
            ToolProgress("reasoning.available", "_thinking", "thinking"),
            ToolFinished("c", "terminal", {"cmd": "ls"}, "a.txt"),
            Notice("retry", "Trying again."),
            TextDelta("Done."),
            TurnEnded(TurnResult(text="Done.")),
        ]
    )
    assert names(received) == [
        "run.started",
        "message.started",
        "assistant.reasoning",
        "assistant.delta",
        "tool.started",
        "tool.progress",
        "tool.completed",
        "notice",
        "assistant.delta",
        "assistant.completed",
        "run.completed",
        "done",
    ]
    told = [
        {
            key: value
            for key, value in one.json.items()
            if key not in ("run_id", "session_id", "seq")
        }
        for one in received
    ]
    assert told[1:9] == [
        {"message": {"id": "msg_1", "role": "assistant"}},
        {"delta": "hm"},
        {"delta": "Wait."},
        {"tool_call_id": "c", "tool_name": "terminal", "arguments": '{"cmd":"ls"}'},
        {"kind": "reasoning.available", "tool_name": "_thinking", "preview": "thinking"},
        {"tool_call_id": "c", "tool_name": "terminal", "output": "a.txt"},
        {"code": "retry", "message": "Trying again."},
        {"delta": "Done."},
    ]
    assert told[9]["content"] == "Done."
    assert told[9]["message_id"] == "msg_1"
    assert told[11] == {"state": "completed"}


def test_the_end_carries_what_this_turn_said_and_nothing_older():
    turn: list[Message] = [
        {"role": "user", "content": "new?"},
        {"role": "assistant", "content": "Wait:", "tool_calls": [{"id": "c"}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "assistant", "content": "new."},
    ]
    for messages in (turn, [*HISTORY, *turn], turn[1:]):
        result = TurnResult(text="new.", messages=messages, usage=Usage(total_tokens=6))
        completed = data(stream([TurnEnded(result)], HISTORY), "run.completed")
        assert completed["messages"] == turn[1:]
        assert completed["usage"] == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 6}
        assert completed["completed"] is True


def test_a_failed_turn_ends_with_its_error():
    received = stream([TurnEnded(TurnResult(outcome=Outcome.FAILED, error="Broke."))])
    assert names(received)[2:] == ["run.failed", "done"]
    assert data(received, "run.failed")["error"] == {"message": "Broke.", "code": "agent_failed"}
    assert data(received, "done")["state"] == "failed"


@pytest.mark.parametrize("outcome", [Outcome.TRUNCATED, Outcome.INTERRUPTED])
def test_an_incomplete_turn_completes_with_a_note(outcome: Outcome):
    received = stream([TextDelta("half"), TurnEnded(TurnResult(text="half", outcome=outcome))])
    for name in ("assistant.completed", "run.completed"):
        assert data(received, name)["completed"] is False
        assert data(received, name)["partial"] is True


def test_internal_tools_are_never_shown():
    using = encoder()
    assert using.encode(ToolStarted("c", "_memory", {})) == b""
    assert using.encode(ToolFinished("c", "_memory", {}, "x")) == b""


def test_silence_is_a_comment():
    assert encoder().encode(Idle()) == KEEPALIVE


def test_text_that_was_never_streamed_is_a_delta_too():
    received = stream([TurnEnded(TurnResult(text="Hello"))])
    assert data(received, "assistant.delta")["delta"] == "Hello"


@given(logs)
def test_every_lawful_log_is_numbered_without_a_gap_and_done_once(log: list[Event]):
    received = stream(log)
    assert [one.json["seq"] for one in received] == list(range(len(received)))
    assert {(one.json["run_id"], one.json["session_id"]) for one in received} == {("run_1", "s1")}
    assert names(received).count("done") == 1
    assert names(received)[-1] == "done"
    deltas = [one.json["delta"] for one in received if one.event == "assistant.delta"]
    assert "".join(deltas).startswith(streamed_text(log))
