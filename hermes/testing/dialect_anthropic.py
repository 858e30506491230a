"""The fake provider's `POST /v1/messages`, as Anthropic speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hermes.testing.dialect import Frame, call_id, event
from hermes.testing.replies import Answer, Reasoning, Text, ToolUse, in_words
from hermes.testing.requests import ModelRequest

_STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_SIGNATURE = "c2lnbmVk"


class AnthropicSpeaker:
    """Says an answer as a message with one content block per part."""

    def __init__(self, answer: Answer, request: ModelRequest) -> None:
        self._answer = answer
        self._request = request

    def begin(self) -> Iterator[Frame]:
        usage = {"input_tokens": self._request.input_tokens, "output_tokens": 0}
        yield _event("message_start", message=self._message([], None, usage))

    def deliver(self) -> Iterator[Frame]:
        for index, part in enumerate(self._answer.parts):
            opened = self._block(part, index, is_done=False)
            yield _event("content_block_start", index=index, content_block=opened)
            for pause, delta in _deltas(part):
                _, frame = _event("content_block_delta", index=index, delta=delta)
                yield pause, frame
            yield _event("content_block_stop", index=index)

    def end(self) -> Iterator[Frame]:
        delta = {"stop_reason": self._stop_reason(), "stop_sequence": None}
        usage = {"output_tokens": self._answer.output_tokens}
        yield _event("message_delta", delta=delta, usage=usage)
        yield _event("message_stop")

    def error(self, message: str) -> bytes:
        _, frame = _event("error", error={"type": "overloaded_error", "message": message})
        return frame

    def whole(self) -> dict[str, Any]:
        parts = enumerate(self._answer.parts)
        blocks = [self._block(part, index, is_done=True) for index, part in parts]
        usage = {
            "input_tokens": self._request.input_tokens,
            "output_tokens": self._answer.output_tokens,
        }
        return self._message(blocks, self._stop_reason(), usage)

    def _message(
        self, blocks: list[dict[str, Any]], stop_reason: str | None, usage: dict[str, int]
    ) -> dict[str, Any]:
        return {
            "id": f"msg_{self._request.number}",
            "type": "message",
            "role": "assistant",
            "model": self._request.model,
            "content": blocks,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def _block(
        self, part: Text | Reasoning | ToolUse, index: int, *, is_done: bool
    ) -> dict[str, Any]:
        match part:
            case Text():
                return {"type": "text", "text": part.whole if is_done else ""}
            case Reasoning():
                thinking = part.text if is_done else ""
                signature = _SIGNATURE if is_done else ""
                return {"type": "thinking", "thinking": thinking, "signature": signature}
            case ToolUse():
                position = sum(isinstance(other, ToolUse) for other in self._answer.parts[:index])
                return {
                    "type": "tool_use",
                    "id": call_id(part.id, self._request, position),
                    "name": part.name,
                    "input": json.loads(part.arguments_json) if is_done else {},
                }

    def _stop_reason(self) -> str:
        return _STOP_REASONS[self._answer.finish_reason]


def _deltas(part: Text | Reasoning | ToolUse) -> Iterator[tuple[float, dict[str, Any]]]:
    match part:
        case Text():
            for piece in part.delivered:
                yield part.interval, {"type": "text_delta", "text": piece}
        case Reasoning():
            for piece in in_words(part.text):
                yield part.interval, {"type": "thinking_delta", "thinking": piece}
            yield 0.0, {"type": "signature_delta", "signature": _SIGNATURE}
        case ToolUse():
            arguments = part.arguments_json
            half = len(arguments) // 2
            for piece in (arguments[:half], arguments[half:]):
                yield 0.0, {"type": "input_json_delta", "partial_json": piece}


def _event(kind: str, **fields: Any) -> Frame:
    return 0.0, event({"type": kind, **fields}, kind)
