"""A turn's events as a chat completions stream.

A text delta is the hot path: its chunk is built once per stream, only the text is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

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
    is_internal,
)
from hermes.core.turn import TurnResult
from hermes.wire.answer import StreamedAnswer
from hermes.wire.chat import (
    ERROR_CODES,
    ChatHead,
    chat_usage,
    failure_message,
    finish_reason,
    incomplete_details,
)
from hermes.wire.sse import DONE, KEEPALIVE, frame

TOOL_PROGRESS = "hermes.tool.progress"

_BEFORE_DELTA = ', "choices": [{"index": 0, "delta": '
_AFTER_DELTA = ', "finish_reason": '

Preview = Callable[[str, Mapping[str, Any]], str]
"""A short label for a call, from the tool's name and arguments."""


class ChatEncoder:
    """Encodes one stream: `opening`, then each event in order. Every frame is a valid chunk."""

    def __init__(self, head: ChatHead, *, include_usage: bool = False, preview: Preview) -> None:
        self._include_usage = include_usage
        self._preview = preview
        self._answer = StreamedAnswer()
        self._head = _head_text(head)
        self._tail = ', "usage": null' if include_usage else ""
        self._before_text = f'data: {self._head}{_BEFORE_DELTA}{{"content": '.encode()
        self._after_text = f"}}{_AFTER_DELTA}null}}]{self._tail}}}\n\n".encode()

    def opening(self) -> bytes:
        """The role chunk, due before anything has happened."""
        return frame(self._chunk('{"role": "assistant", "content": ""}'))

    def encode(self, event: Event) -> bytes:
        """The frames for one event; empty when it leaves no trace in this dialect."""
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case ToolStarted():
                return self._tool(event, "running")
            case ToolFinished():
                return self._tool(event, "completed")
            case TurnEnded(result):
                return self._end(result)
            case Idle():
                return KEEPALIVE
            case SegmentEnd():
                self._answer.end_segment()
                return b""
            case ReasoningDelta() | ToolProgress() | Notice():
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
        progress = {
            "tool": event.name,
            "label": self._preview(event.name, event.arguments),
            "toolCallId": event.call_id,
            "status": status,
        }
        return frame(self._chunk("{}", **progress), TOOL_PROGRESS)

    def _end(self, result: TurnResult) -> bytes:
        missing = self._answer.missing_from(result.text)
        frames = [self._text(missing)] if missing else []
        frames.append(frame(self._finish(result)))
        if self._include_usage:
            usage = json.dumps(chat_usage(result.usage))
            frames.append(frame(f'{self._head}, "choices": [], "usage": {usage}}}'))
        return b"".join([*frames, DONE])

    def _finish(self, result: TurnResult) -> str:
        reason = finish_reason(result, has_text=self._answer.has_text)
        extra: dict[str, Any] = {}
        if reason == "error":
            extra["error"] = {
                "message": failure_message(result),
                "type": "server_error",
                "code": ERROR_CODES[result.outcome],
            }
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
