"""A turn's events as a chat completions stream.

A text delta is the hot path: its chunk is built once per stream, only the text is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from hermes.core.turn import TurnResult
from hermes.wire.answer import StreamedAnswer
from hermes.wire.approval_text import question_after
from hermes.wire.chat import (
    ChatHead,
    chat_usage,
    finish_reason,
    incomplete_details,
)
from hermes.wire.own_renderings import render
from hermes.wire.response_items import call_id_of, called_function, line_about
from hermes.wire.sse import DONE, KEEPALIVE, frame, queued
from hermes.wire.tool_forms import CONTRACT_DIALECT, ChatForm, Dialect, Preview
from hermes.wire.turn_errors import chunk_error

TOOL_PROGRESS = "hermes.tool.progress"

_BEFORE_DELTA = ', "choices": [{"index": 0, "delta": '
_AFTER_DELTA = ', "finish_reason": '


class ChatEncoder:
    """Encodes one stream: `opening`, then each event in order. Every frame is a valid chunk.

    The same head and the same events give the same bytes, in every process.
    """

    def __init__(
        self,
        head: ChatHead,
        *,
        include_usage: bool = False,
        preview: Preview,
        dialect: Dialect = CONTRACT_DIALECT,
    ) -> None:
        self._include_usage = include_usage
        self._preview = preview
        self._form = dialect.forms.chat
        self._shows_reasoning = dialect.shows_reasoning()
        self._answer = StreamedAnswer()
        self._has_ended = False
        self._head = _head_text(head)
        self._tail = ', "usage": null' if include_usage else ""
        self._before_text = f'data: {self._head}{_BEFORE_DELTA}{{"content": '.encode()
        self._after_text = f"}}{_AFTER_DELTA}null}}]{self._tail}}}\n\n".encode()

    def opening(self) -> bytes:
        """The role chunk, due before anything has happened."""
        return frame(self._chunk('{"role": "assistant", "content": ""}'))

    def encode(self, event: Event, at: float | None = None) -> bytes:
        """The frames for one event; empty when it leaves no trace in this dialect.

        Chunks do not say `at` what time anything happened.
        """
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case ToolStarted():
                return self._tool(event, "running")
            case ToolFinished():
                return self._tool(event, "completed")
            case ReasoningDelta(text):
                return self._reasoning(text) if self._shows_reasoning and text else b""
            case TurnEnded(result) | TurnPaused(result):
                return self._end(result)
            case Idle():
                return KEEPALIVE
            case SegmentEnd():
                self._answer.end_segment()
                return b""
            case RunQueued(place):
                return queued(place)
            case (
                ToolProgress()
                | Notice()
                | FilesChanged()
                | CommandRan()
                | Delegated()
                | MessageKept()
                | ApprovalRequested()
                | ApprovalDecided()
                | SteerAccepted()
                | Steered()
                | RunStarted()
            ):
                return b""
            case _:
                assert_never(event)

    def _text(self, text: str) -> bytes:
        self._answer.add(text)
        return self._before_text + encode_basestring_ascii(text).encode() + self._after_text

    def _tool(self, event: ToolStarted | ToolFinished, status: str) -> bytes:
        if is_internal(event.name):
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        match self._form:
            case ChatForm.EVENT:
                progress = self._progress(event, status)
                return frame(self._chunk("{}", **progress), TOOL_PROGRESS)
            case ChatForm.DELTA:
                return self._delta(hermes_tool=self._progress(event, status))
            case ChatForm.REASONING:
                return self._line(event) if isinstance(event, ToolStarted) else b""
            case ChatForm.HIDDEN:
                return b""
            case _:
                assert_never(self._form)

    def _progress(self, event: ToolStarted | ToolFinished, status: str) -> dict[str, str]:
        return {
            "tool": event.name,
            "label": self._preview(event.name, event.arguments),
            "toolCallId": event.call_id,
            "status": status,
        }

    def _line(self, event: ToolStarted) -> bytes:
        return self._reasoning(render(line_about(event.name, event.arguments, self._preview)))

    def _reasoning(self, text: str) -> bytes:
        return self._delta(reasoning_content=text)

    def _delta(self, **delta: Any) -> bytes:
        return frame(self._chunk(json.dumps(delta)))

    def _end(self, result: TurnResult) -> bytes:
        if self._has_ended:
            return b""
        self._has_ended = True
        missing = self._answer.missing_from_end(result)
        frames = [self._text(missing)] if missing else []
        if result.approvals:
            frames.append(self._text(question_after(result, has_text=self._answer.has_text)))
        frames += [self._client_call(at, call) for at, call in enumerate(result.pending)]
        frames.append(frame(self._finish(result)))
        if self._include_usage:
            usage = json.dumps(chat_usage(result.usage))
            frames.append(frame(f'{self._head}, "choices": [], "usage": {usage}}}'))
        return b"".join([*frames, DONE])

    def _client_call(self, index: int, call: Mapping[str, Any]) -> bytes:
        """A call that the client is to run, in one piece."""
        function = called_function(call)
        described = {"id": call_id_of(call), "type": "function", "function": function}
        return self._delta(tool_calls=[{"index": index, **described}])

    def _finish(self, result: TurnResult) -> str:
        reason = finish_reason(result, has_text=self._answer.has_text)
        extra: dict[str, Any] = {}
        if reason == "error":
            extra["error"] = chunk_error(result)
        if not result.is_complete:
            extra["hermes"] = incomplete_details(result)
        return self._chunk("{}", json.dumps(reason), **extra)

    def _chunk(self, delta: str, reason: str = "null", **extra: Any) -> str:
        """One chunk as JSON text; `delta` and `reason` are JSON already."""
        added = f", {json.dumps(extra)[1:-1]}" if extra else ""
        return f"{self._head}{_BEFORE_DELTA}{delta}{_AFTER_DELTA}{reason}}}]{self._tail}{added}}}"


def _head_text(head: ChatHead) -> str:
    """What every chunk begins with, as JSON text without its closing brace."""
    fields = {
        "id": head.id,
        "object": "chat.completion.chunk",
        "created": head.created,
        "model": head.model,
    }
    return json.dumps(fields)[:-1]
