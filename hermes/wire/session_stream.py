"""A turn's events as a session stream: the house's own dialect, which shows everything there is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
from hermes.core.messages import Message
from hermes.core.runs import RunStatus
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.answer import StreamedAnswer
from hermes.wire.approval_text import answer_text, question_after
from hermes.wire.chat import incomplete_details
from hermes.wire.response_items import arguments_text
from hermes.wire.run_stream import told_of_deed
from hermes.wire.runs import approval_object
from hermes.wire.sse import KEEPALIVE, frame
from hermes.wire.transcript import turn_messages
from hermes.wire.turn_errors import chunk_error

_WAITING = RunStatus.WAITING_FOR_APPROVAL.value
_SPOKEN = ("assistant", "tool")
_EVENT_ID = re.compile(r"([A-Za-z0-9_-]{1,128})(?:\.([0-9]{1,18}))?:([0-9]{1,18})")
_FRAME_ID = re.compile(rb"id: [A-Za-z0-9_.-]{1,150}:([0-9]{1,18})\n")


@dataclass(frozen=True, slots=True)
class EventId:
    """What the `id` of a frame says: a stream, and a place in it."""

    run_id: str
    leg: int
    """The stream shows the part of the run after this number of its log."""
    number: int


class SessionEncoder:
    """Encodes one stream: `opening` first, then each event in order. `seq` has no gap.

    The same names and the same events give the same bytes, in every process.
    """

    def __init__(
        self,
        *,
        run_id: str,
        session_id: str,
        message_id: str,
        opening: Sequence[Message] = (),
        history: Sequence[Message] = (),
        leg: int = 0,
    ) -> None:
        self._names = {"run_id": run_id, "session_id": session_id}
        self._message_id = message_id
        self._opening = opening
        self._history = history
        self._stream = f"{run_id}.{leg}" if leg else run_id
        self._before_id = f"id: {self._stream}:"
        self._before_seq = f"\nevent: assistant.delta\ndata: {json.dumps(self._names)[:-1]}"
        self._seq = 0
        self._kept: list[Message] = []
        """What the turn said, as far as its log has it message by message."""
        self._has_ended = False
        self._answer = StreamedAnswer()

    def opening(self) -> bytes:
        message = {"id": self._message_id, "role": "assistant"}
        return self._event("run.started") + self._event("message.started", message=message)

    def encode(self, event: Event, at: float | None = None) -> bytes:
        """The frames for one event; empty when it leaves no trace in this dialect.

        Frames do not say `at` what time anything happened.
        """
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case ToolStarted() | ToolFinished():
                return self._tool(event)
            case Idle():
                return KEEPALIVE
            case SegmentEnd():
                self._answer.end_segment()
                return b""
            case TurnEnded(result) | TurnPaused(result):
                return self._end(result)
            case MessageKept(message):
                self._kept.append(message)
                return b""
            case RunStarted():
                return b""  # the stream began with it
            case RunQueued(place):
                # Not in the log, so without a number.
                return frame(json.dumps({**self._names, "place": place}), "run.queued")
            case _:
                kind, fields = _told(event)
                return self._event(kind, **fields)

    def _text(self, text: str) -> bytes:
        self._answer.add(text)
        # Written by hand, as this is what a stream consists of.
        number = self._next()
        return (
            f'{self._before_id}{number}{self._before_seq}, "seq": {number}, '
            f'"delta": {encode_basestring_ascii(text)}}}\n\n'
        ).encode()

    def _tool(self, event: ToolStarted | ToolFinished) -> bytes:
        if is_internal(event.name):
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        tool = {"tool_call_id": event.call_id, "tool_name": event.name}
        if isinstance(event, ToolFinished):
            return self._event("tool.completed", **tool, output=event.output)
        return self._event("tool.started", **tool, arguments=arguments_text(event.arguments))

    def _end(self, result: TurnResult) -> bytes:
        if self._has_ended:
            return b""
        self._has_ended = True
        last_text = self._last_text(result)
        if result.outcome is Outcome.FAILED:
            return last_text + self._failed(result) + self._event("done", state="failed")
        if result.outcome is Outcome.ASKING:
            return last_text + self._asking(result) + self._event("done", state=_WAITING)
        return last_text + self._completed(result) + self._event("done", state="completed")

    def _last_text(self, result: TurnResult) -> bytes:
        missing = self._answer.missing_from_end(result)
        last_text = self._text(missing) if missing else b""
        asked = question_after(result, has_text=self._answer.has_text)
        return last_text + self._text(asked) if asked else last_text

    def _failed(self, result: TurnResult) -> bytes:
        told = chunk_error(result)
        error = {"message": told["message"], "code": told["code"]}
        return self._event("run.failed", error=error, **self._ending(result))

    def _asking(self, result: TurnResult) -> bytes:
        approvals = [approval_object(request) for request in result.approvals]
        return self._said(result) + self._event(
            f"run.{_WAITING}", approvals=approvals, **self._ending(result)
        )

    def _completed(self, result: TurnResult) -> bytes:
        details = incomplete_details(result)
        return self._said(result) + self._event("run.completed", **self._ending(result), **details)

    def _said(self, result: TurnResult) -> bytes:
        return self._event(
            "assistant.completed",
            message_id=self._message_id,
            content=answer_text(result),
            **incomplete_details(result),
        )

    def _ending(self, result: TurnResult) -> dict[str, Any]:
        turn = self._kept or turn_messages(self._history, self._opening, result)
        said = [message for message in turn if message.get("role") in _SPOKEN]
        return {"messages": said, "usage": session_usage(result.usage)}

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        number = self._next()
        payload = {**self._names, "seq": number, **fields}
        return frame(json.dumps(payload), kind, f"{self._stream}:{number}")

    def _next(self) -> int:
        number = self._seq
        self._seq += 1
        return number


def _told(
    event: ReasoningDelta
    | ToolProgress
    | Notice
    | FilesChanged
    | CommandRan
    | Delegated
    | ApprovalRequested
    | ApprovalDecided
    | SteerAccepted
    | Steered,
) -> tuple[str, dict[str, Any]]:
    """Events that this dialect passes on as they are: under which name, and with what."""
    match event:
        case ReasoningDelta(text):
            return "assistant.reasoning", {"delta": text}
        case ToolProgress():
            return "tool.progress", asdict(event)
        case Notice():
            return "notice", asdict(event)
        case FilesChanged() | CommandRan() | Delegated():
            return told_of_deed(event)
        case ApprovalRequested(request):
            return "approval.requested", {"approval": approval_object(request)}
        case ApprovalDecided(decision=decision):
            return "approval.decided", {**asdict(event), "decision": decision.value}
        case SteerAccepted():
            return "steer.accepted", asdict(event)
        case Steered():
            return "steer.delivered", asdict(event)
        case _:
            assert_never(event)


def parse_event_id(written: str) -> EventId | None:
    """The frame that somebody saw last; None when it is none of ours."""
    found = _EVENT_ID.fullmatch(written.strip())
    return None if found is None else EventId(found[1], int(found[2] or 0), int(found[3]))


def after(frames: bytes, number: int) -> bytes:
    """Whole frames without those up to this number; comments stay."""
    pieces = frames.split(b"\n\n")[:-1]
    return b"".join(piece + b"\n\n" for piece in pieces if _is_after(piece, number))


def _is_after(piece: bytes, number: int) -> bool:
    found = _FRAME_ID.match(piece)
    return found is None or int(found[1]) > number


def session_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        **usage.extras,
    }
