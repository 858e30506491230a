"""A turn's events as a session stream: the house's own dialect, which shows everything there is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

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
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.answer import StreamedAnswer
from hermes.wire.chat import incomplete_details
from hermes.wire.response_items import arguments_text
from hermes.wire.sse import KEEPALIVE, frame
from hermes.wire.transcript import turn_messages
from hermes.wire.turn_errors import chunk_error


class SessionEncoder:
    """Encodes one stream: `opening` first, then each event in order. `seq` has no gap."""

    def __init__(
        self,
        *,
        run_id: str,
        session_id: str,
        message_id: str,
        opening: Sequence[Message],
        history: Sequence[Message] = (),
    ) -> None:
        self._names = {"run_id": run_id, "session_id": session_id}
        self._message_id = message_id
        self._opening = opening
        self._history = history
        self._before_seq = f"event: assistant.delta\ndata: {json.dumps(self._names)[:-1]}"
        self._seq = 0
        self._answer = StreamedAnswer()

    def opening(self) -> bytes:
        message = {"id": self._message_id, "role": "assistant"}
        return self._event("run.started") + self._event("message.started", message=message)

    def encode(self, event: Event) -> bytes:
        """The frames for one event; empty when it leaves no trace in this dialect."""
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case ReasoningDelta(text):
                return self._event("assistant.reasoning", delta=text)
            case ToolStarted() | ToolFinished():
                return self._tool(event)
            case ToolProgress():
                return self._event("tool.progress", **asdict(event))
            case Notice():
                return self._event("notice", **asdict(event))
            case Idle():
                return KEEPALIVE
            case SegmentEnd():
                self._answer.end_segment()
                return b""
            case TurnEnded(result):
                return self._end(result)
            case (
                MessageKept()
                | ApprovalRequested()
                | ApprovalDecided()
                | Steered()
                | RunQueued()
                | RunStarted()
                | TurnPaused()
            ):
                return b""
            case _:
                assert_never(event)

    def _text(self, text: str) -> bytes:
        self._answer.add(text)
        # Written by hand, as this is what a stream consists of.
        return (
            f'{self._before_seq}, "seq": {self._next()}, '
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
        missing = self._answer.missing_from(result.text)
        last_text = self._text(missing) if missing else b""
        if result.outcome is Outcome.FAILED:
            return last_text + self._failed(result) + self._event("done", state="failed")
        return last_text + self._completed(result) + self._event("done", state="completed")

    def _failed(self, result: TurnResult) -> bytes:
        told = chunk_error(result)
        error = {"message": told["message"], "code": told["code"]}
        return self._event("run.failed", error=error, **self._ending(result))

    def _completed(self, result: TurnResult) -> bytes:
        details = incomplete_details(result)
        return self._event(
            "assistant.completed", message_id=self._message_id, content=result.text, **details
        ) + self._event("run.completed", **self._ending(result), **details)

    def _ending(self, result: TurnResult) -> dict[str, Any]:
        turn = turn_messages(self._history, self._opening, result)
        said = [message for message in turn if message.get("role") in ("assistant", "tool")]
        return {"messages": said, "usage": session_usage(result.usage)}

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        payload = {**self._names, "seq": self._next(), **fields}
        return frame(json.dumps(payload), kind)

    def _next(self) -> int:
        number = self._seq
        self._seq += 1
        return number


def session_usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
