"""A run's log as a stream: event by event, each with its number in the log as its id.

This is the one dialect that hides nothing of a run, except what the agent's internal tools are
given and say. It ends with the run; there is no closing mark after its last event.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
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
    is_internal,
)
from hermes.core.messages import Message, tool_calls_of
from hermes.core.runs import LoggedEvent, RunStatus, error_of
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.response_items import called_function
from hermes.wire.runs import approval_object, shown_error
from hermes.wire.sse import KEEPALIVE, frame

_TEXT_DELTA = "text.delta"

_Shown = (
    ReasoningDelta
    | SegmentEnd
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | Notice
    | FilesChanged
    | CommandRan
    | Delegated
    | MessageKept
    | ApprovalRequested
    | ApprovalDecided
    | SteerAccepted
    | Steered
    | RunQueued
    | RunStarted
    | TurnPaused
    | TurnEnded
)
"""All but text, which is written by hand, and silence."""

_STATUSES = {
    Outcome.COMPLETED: RunStatus.COMPLETED,
    Outcome.WAITING: RunStatus.COMPLETED,
    Outcome.ASKING: RunStatus.WAITING_FOR_APPROVAL,
    Outcome.TRUNCATED: RunStatus.COMPLETED,
    Outcome.INTERRUPTED: RunStatus.CANCELLED,
    Outcome.FAILED: RunStatus.FAILED,
}
"""What a run has come to, where its last event does not say it."""


class RunEncoder:
    """Encodes one run. Every event of the log is one frame, so any of them can be the first."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._before_seq = f'{{"run_id": {json.dumps(run_id)}, "seq": '

    def encode(self, logged: LoggedEvent) -> bytes:
        event = logged.event
        if isinstance(event, Idle):
            return KEEPALIVE
        if isinstance(event, TextDelta):
            return self._text(logged, event.text)
        kind, fields = _told(event)
        payload = {"run_id": self._run_id, "seq": logged.seq, "at": logged.at, "type": kind}
        # What is in no log, such as the place in a queue, has no number to come back to.
        number = str(logged.seq) if logged.seq else None
        return frame(json.dumps({**payload, **fields}, default=str), kind, number)

    def _text(self, logged: LoggedEvent, text: str) -> bytes:
        # Written by hand, as this is what a log consists of.
        return (
            f"id: {logged.seq}\nevent: {_TEXT_DELTA}\n"
            f'data: {self._before_seq}{logged.seq}, "at": {logged.at!r}, "type": "{_TEXT_DELTA}", '
            f'"delta": {encode_basestring_ascii(text)}}}\n\n'
        ).encode()


def _told(event: _Shown) -> tuple[str, dict[str, Any]]:
    """The name of an event, and what it says."""
    match event:
        case ReasoningDelta(text):
            return "reasoning.delta", {"delta": text}
        case SegmentEnd():
            return "segment.end", {}
        case ToolStarted() | ToolProgress() | ToolFinished():
            return _told_of_tool(event)
        case Notice():
            return "notice", asdict(event)
        case FilesChanged() | CommandRan() | Delegated():
            return told_of_deed(event)
        case MessageKept(message):
            return "message.kept", {"message": _shown(message)}
        case ApprovalRequested() | ApprovalDecided():
            return _told_of_approval(event)
        case SteerAccepted() | Steered():
            is_heard = isinstance(event, Steered)
            return f"steer.{'delivered' if is_heard else 'accepted'}", asdict(event)
        case RunQueued() | RunStarted() | TurnPaused() | TurnEnded():
            return _told_of_run(event)
        case _:
            assert_never(event)


def told_of_deed(event: FilesChanged | CommandRan | Delegated) -> tuple[str, dict[str, Any]]:
    """What a tool or a sub-agent has done, in the words of this stream."""
    match event:
        case FilesChanged():
            return "files.changed", asdict(event)
        case CommandRan():
            return "command.ran", asdict(event)
        case Delegated(call_id, nested):
            return "delegate.event", {"call_id": call_id, "event": _told_within(nested)}
        case _:
            assert_never(event)


def _told_within(event: Event) -> dict[str, Any]:
    if isinstance(event, TextDelta):
        return {"type": _TEXT_DELTA, "delta": event.text}
    if isinstance(event, Idle):
        return {"type": "idle"}
    kind, fields = _told(event)
    return {"type": kind, **fields}


def _told_of_tool(event: ToolStarted | ToolProgress | ToolFinished) -> tuple[str, dict[str, Any]]:
    match event:
        case ToolProgress():
            return "tool.progress", asdict(event)
        case ToolStarted(call_id, name, arguments):
            shown = None if is_internal(name) else dict(arguments)
            return "tool.started", {"call_id": call_id, "name": name, "arguments": shown}
        case ToolFinished(call_id, name, _, output):
            text = None if is_internal(name) else output
            return "tool.finished", {"call_id": call_id, "name": name, "output": text}
        case _:
            assert_never(event)


def _told_of_approval(event: ApprovalRequested | ApprovalDecided) -> tuple[str, dict[str, Any]]:
    match event:
        case ApprovalRequested(request):
            return "approval.requested", {"approval": approval_object(request)}
        case ApprovalDecided(decision=decision):
            return "approval.decided", {**asdict(event), "decision": decision.value}
        case _:
            assert_never(event)


def _told_of_run(
    event: RunQueued | RunStarted | TurnPaused | TurnEnded,
) -> tuple[str, dict[str, Any]]:
    match event:
        case RunQueued():
            return "run.queued", asdict(event)
        case RunStarted():
            return "run.started", asdict(event)
        case TurnPaused(result):
            return _told_of_end(RunStatus.WAITING_FOR_APPROVAL, result)
        case TurnEnded(result, said):
            return _told_of_end(RunStatus(said) if said else _STATUSES[result.outcome], result)
        case _:
            assert_never(event)


def _told_of_end(status: RunStatus, result: TurnResult) -> tuple[str, dict[str, Any]]:
    """How a run ended, or that it waits, and what came of it so far."""
    came: dict[str, Any] = {
        "outcome": result.outcome.value,
        "output": result.text,
        "error": shown_error(error_of(status, result)),
        "usage": result.usage.as_dict(),
    }
    if result.pending:
        came["tool_calls"] = list(result.pending)
    if status is RunStatus.WAITING_FOR_APPROVAL:
        came["approvals"] = [approval_object(request) for request in result.approvals]
    return f"run.{status.value}", came


def _shown(message: Message) -> Message:
    """A message without what internal tools were given, or said."""
    if is_internal(str(message.get("tool_name") or "")):
        return {**message, "content": ""}
    calls = tool_calls_of(message)
    if not any(is_internal(called_function(call)["name"]) for call in calls):
        return message
    return {**message, "tool_calls": [_shown_call(call) for call in calls]}


def _shown_call(call: dict[str, Any]) -> dict[str, Any]:
    name = called_function(call)["name"]
    if not is_internal(name):
        return call
    return {**call, "function": {"name": name, "arguments": "{}"}}
