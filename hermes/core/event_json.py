"""Events as a type name and JSON data and back, for logs that outlive the process.

The end and a pause of a turn are kept without the `messages` of their result: each of them is in
the log already, as a `MessageKept`, and whoever needs them collects those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hermes.core.approvals import Decision
from hermes.core.changes import FileChange, FileState
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
)
from hermes.core.turn_json import read_request, read_usage, result_from_json
from hermes.core.value_json import reader_of, to_plain, tuple_of

_read_state = reader_of(FileState)
_read_change = reader_of(FileChange, {"before": _read_state, "after": _read_state})


def _read_nested(data: Mapping[str, Any]) -> Event:
    return event_from_json(data["type"], data["data"])


_KINDS: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    TextDelta: ("text.delta", reader_of(TextDelta)),
    ReasoningDelta: ("reasoning.delta", reader_of(ReasoningDelta)),
    SegmentEnd: ("segment.end", reader_of(SegmentEnd)),
    ToolStarted: ("tool.started", reader_of(ToolStarted)),
    ToolProgress: ("tool.progress", reader_of(ToolProgress)),
    ToolFinished: ("tool.finished", reader_of(ToolFinished)),
    Notice: ("notice", reader_of(Notice)),
    FilesChanged: ("files.changed", reader_of(FilesChanged, {"changes": tuple_of(_read_change)})),
    CommandRan: ("command.ran", reader_of(CommandRan)),
    Delegated: ("delegate.event", reader_of(Delegated, {"event": _read_nested})),
    MessageKept: ("message.kept", reader_of(MessageKept, {"used": read_usage})),
    ApprovalRequested: (
        "approval.requested",
        reader_of(ApprovalRequested, {"request": read_request}),
    ),
    ApprovalDecided: ("approval.decided", reader_of(ApprovalDecided, {"decision": Decision})),
    SteerAccepted: ("steer.accepted", reader_of(SteerAccepted)),
    Steered: ("steer.delivered", reader_of(Steered)),
    RunQueued: ("run.queued", reader_of(RunQueued)),
    RunStarted: ("run.started", reader_of(RunStarted)),
    TurnPaused: ("run.paused", reader_of(TurnPaused, {"result": result_from_json})),
    TurnEnded: ("run.ended", reader_of(TurnEnded, {"result": result_from_json})),
}
_READERS = dict(_KINDS.values())

PASSING = ("text.delta", "reasoning.delta", "tool.progress")
"""The types of events that only matter while a turn is watched: the others tell what came of it."""


def event_to_json(event: Event) -> tuple[str, dict[str, Any]]:
    """The type and the data; raises `ValueError` for `Idle`, which is never kept."""
    if isinstance(event, TextDelta):  # nearly all of them, so without ceremony
        return "text.delta", {"text": event.text}
    if isinstance(event, Idle):
        raise ValueError("Idle says that nothing happened; it is not kept")
    if isinstance(event, Delegated):
        kind, nested = event_to_json(event.event)
        return "delegate.event", {
            "call_id": event.call_id,
            "event": {"type": kind, "data": nested},
        }
    data = dict(to_plain(event))
    if isinstance(event, (TurnPaused, TurnEnded)):
        del data["result"]["messages"]
    return _KINDS[type(event)][0], data


def event_from_json(kind: str, data: Mapping[str, Any]) -> Event:
    """Raises `KeyError` when this version knows no such type."""
    if kind == "text.delta":
        return TextDelta(data["text"])
    event: Event = _READERS[kind](data)
    return event
