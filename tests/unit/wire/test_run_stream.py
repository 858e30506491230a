"""A run's log as a stream: one frame per event, from any number on, whatever it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    Idle,
    MessageKept,
    Notice,
    ReasoningDelta,
    RunQueued,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.runs import LoggedEvent
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.testing.sse import parse_events
from hermes.wire.run_stream import RunEncoder
from hermes.wire.runs import approval_object
from hermes.wire.sse import KEEPALIVE
from tests.unit.wire.event_logs import run_logs
from tests.unit.wire.sse_reader import read

REQUEST = ApprovalRequest(
    id="appr_1",
    code="K7Q2M",
    call_id="c1",
    tool="terminal",
    arguments={"command": "rm -r build"},
    shown="rm -r build",
    reason="deletes files",
    expires_at=900.0,
)
NO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "total_tokens": 0,
    "cached_tokens": 0,
    "reasoning_tokens": 0,
}


def told(event: Event) -> tuple[str, dict[str, Any]]:
    """The type of an event, and its own fields."""
    [received] = parse_events(RunEncoder("run_1").encode(LoggedEvent(3, 1.25, event)))
    data = read(RunEncoder("run_1").encode(LoggedEvent(3, 1.25, event)))[0].json
    assert (received.id, received.event) == ("3", data["type"])
    assert (data.pop("run_id"), data.pop("seq"), data.pop("at")) == ("run_1", 3, 1.25)
    return data.pop("type"), data


@pytest.mark.parametrize(
    ("event", "kind", "fields"),
    [
        (TextDelta("Hi\n"), "text.delta", {"delta": "Hi\n"}),
        (ReasoningDelta("hm"), "reasoning.delta", {"delta": "hm"}),
        (SegmentEnd(), "segment.end", {}),
        (
            ToolStarted("c1", "terminal", {"a": 1}),
            "tool.started",
            {"call_id": "c1", "name": "terminal", "arguments": {"a": 1}},
        ),
        (
            ToolProgress("output", "terminal", "50%"),
            "tool.progress",
            {"kind": "output", "tool_name": "terminal", "preview": "50%"},
        ),
        (
            ToolFinished("c1", "terminal", {"a": 1}, "done"),
            "tool.finished",
            {"call_id": "c1", "name": "terminal", "output": "done"},
        ),
        (Notice("retry", "Again."), "notice", {"code": "retry", "message": "Again."}),
        (
            MessageKept({"role": "user", "content": "Hi"}),
            "message.kept",
            {"message": {"role": "user", "content": "Hi"}},
        ),
        (ApprovalRequested(REQUEST), "approval.requested", {"approval": approval_object(REQUEST)}),
        (
            ApprovalDecided("appr_1", "c1", Decision.ONCE, "client"),
            "approval.decided",
            {"approval_id": "appr_1", "call_id": "c1", "decision": "once", "by": "client"},
        ),
        (SteerAccepted("steer_1", "Hm."), "steer.accepted", {"steer_id": "steer_1", "text": "Hm."}),
        (Steered("steer_1", "Stop."), "steer.delivered", {"steer_id": "steer_1", "text": "Stop."}),
        (RunQueued(2), "run.queued", {"place": 2}),
        (RunStarted(1), "run.started", {"attempt": 1}),
        (
            TurnPaused(TurnResult(text="Wait.", outcome=Outcome.ASKING, approvals=[REQUEST])),
            "run.waiting_for_approval",
            {
                "approvals": [approval_object(REQUEST)],
                "outcome": "asking",
                "output": "Wait.",
                "error": None,
                "usage": NO_USAGE,
            },
        ),
        (
            TurnEnded(TurnResult(text="Done."), "completed"),
            "run.completed",
            {"outcome": "completed", "output": "Done.", "error": None, "usage": NO_USAGE},
        ),
    ],
)
def test_every_kind_of_event_has_its_name_and_its_fields(
    event: Event, kind: str, fields: dict[str, Any]
) -> None:
    assert told(event) == (kind, fields)


@pytest.mark.parametrize(
    ("result", "status", "kind", "code"),
    [
        (
            TurnResult(outcome=Outcome.INTERRUPTED, error="x"),
            "interrupted",
            "run.interrupted",
            "interrupted",
        ),
        (
            TurnResult(outcome=Outcome.INTERRUPTED, error="x"),
            "cancelled",
            "run.cancelled",
            "cancelled",
        ),
        (TurnResult(outcome=Outcome.INTERRUPTED, error="x"), None, "run.cancelled", "cancelled"),
        (TurnResult(outcome=Outcome.FAILED, error="x"), None, "run.failed", "agent_incomplete"),
        (
            TurnResult(outcome=Outcome.FAILED, error="x", failure=Failure(code="rate_limited")),
            "failed",
            "run.failed",
            "rate_limit_exceeded",
        ),
    ],
)
def test_a_run_that_did_not_complete_says_why(
    result: TurnResult, status: str | None, kind: str, code: str
) -> None:
    found, fields = told(TurnEnded(result, status))
    assert (found, fields["error"]) == (kind, {"code": code, "message": "x"})


def test_calls_that_the_client_has_to_run_are_part_of_the_end() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    kind, fields = told(TurnEnded(TurnResult(outcome=Outcome.WAITING, pending=[call])))
    assert (kind, fields["tool_calls"]) == ("run.completed", [call])


def test_what_internal_tools_are_given_and_say_stays_inside() -> None:
    secret = "the secret"
    call = {"id": "c", "function": {"name": "_memory", "arguments": secret}}
    events = [
        ToolStarted("c", "_memory", {"x": secret}),
        ToolFinished("c", "_memory", {"x": secret}, secret),
        MessageKept({"role": "assistant", "content": None, "tool_calls": [call]}),
        MessageKept(
            {"role": "tool", "tool_call_id": "c", "tool_name": "_memory", "content": secret}
        ),
    ]
    for event in events:
        assert secret not in repr(told(event))


def test_what_json_cannot_say_does_not_break_a_stream() -> None:
    kind, fields = told(ToolStarted("c", "terminal", {"path": {1}}))
    assert (kind, fields["arguments"]) == ("tool.started", {"path": "{1}"})


def test_what_is_in_no_log_has_no_id_to_go_on_from() -> None:
    encoder = RunEncoder("run_1")
    assert encoder.encode(LoggedEvent(0, 0.0, Idle())) == KEEPALIVE
    [queued] = parse_events(encoder.encode(LoggedEvent(0, 0.0, RunQueued(2))))
    assert (queued.event, queued.id) == ("run.queued", None)


@given(run_logs)
def test_a_viewer_who_joins_anywhere_sees_the_rest_of_the_same_bytes(log: list[Event]) -> None:
    logged = [
        LoggedEvent(at, at / 7, event)
        for at, event in enumerate((event for event in log if not isinstance(event, Idle)), 1)
    ]
    whole = [RunEncoder("run_1").encode(each) for each in logged]
    for begin in range(len(logged) + 1):
        joined = RunEncoder("run_1")
        assert b"".join(map(joined.encode, logged[begin:])) == b"".join(whole[begin:])
    received = parse_events(b"".join(whole))
    assert [event.id for event in received] == [str(each.seq) for each in logged]
