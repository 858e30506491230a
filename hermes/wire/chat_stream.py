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

Preview = Callable[[str, Mapping[str, Any]], str]
"""A short label for a call, from the tool's name and arguments."""


class ChatEncoder:
    """Encodes one stream: `opening`, then each event in order. Every frame is a valid chunk."""

    def __init__(self, head: ChatHead, *, include_usage: bool = False, preview: Preview) -> None:
        self._head = head
        self._include_usage = include_usage
        self._preview = preview
        self._answer = StreamedAnswer()
        self._before_text, self._after_text = self._text_template()

    def opening(self) -> bytes:
        """The role chunk, due before anything has happened."""
        return frame(json.dumps(self._chunk({"role": "assistant", "content": ""})))

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
        progress = self._chunk({})
        progress["tool"] = event.name
        progress["label"] = self._preview(event.name, event.arguments)
        progress["toolCallId"] = event.call_id
        progress["status"] = status
        return frame(json.dumps(progress), TOOL_PROGRESS)

    def _end(self, result: TurnResult) -> bytes:
        missing = self._answer.missing_from(result.text)
        frames = [self._text(missing)] if missing else []
        frames.append(frame(json.dumps(self._finish(result))))
        if self._include_usage:
            usage = {**self._chunk({}), "choices": [], "usage": chat_usage(result.usage)}
            frames.append(frame(json.dumps(usage)))
        return b"".join([*frames, DONE])

    def _finish(self, result: TurnResult) -> dict[str, Any]:
        reason = finish_reason(result, has_text=self._answer.has_text)
        chunk = self._chunk({}, reason)
        if reason == "error":
            chunk["error"] = {
                "message": failure_message(result),
                "type": "server_error",
                "code": ERROR_CODES[result.outcome],
            }
        if not result.is_complete:
            chunk["hermes"] = incomplete_details(result)
        return chunk

    def _chunk(self, delta: dict[str, str], reason: str | None = None) -> dict[str, Any]:
        chunk: dict[str, Any] = {
            "id": self._head.id,
            "object": "chat.completion.chunk",
            "created": self._head.created,
            "model": self._head.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        if self._include_usage:
            chunk["usage"] = None
        return chunk

    def _text_template(self) -> tuple[bytes, bytes]:
        """A text chunk without its text: what stands before it, and what stands after it."""
        whole = frame(json.dumps(self._chunk({"content": ""})))
        # Cut at the last match, so that no model name can look like the place of the text.
        before, after = whole.rsplit(b'"content": ""', 1)
        return before + b'"content": ', after
