"""The fake provider's `POST /v1/responses`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hermes.testing.dialect import Frame, call_id, event
from hermes.testing.replies import Answer, Reasoning, Text, ToolUse, in_words
from hermes.testing.requests import ModelRequest

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesSpeaker:
    """Says an answer as a response with one output item per part."""

    def __init__(self, answer: Answer, request: ModelRequest) -> None:
        self._answer = answer
        self._request = request
        self._created = int(time.time())
        self._sequence = 0

    def begin(self) -> Iterator[Frame]:
        started = self._response("in_progress", [])
        yield self._event("response.created", response=started)
        yield self._event("response.in_progress", response=started)

    def deliver(self) -> Iterator[Frame]:
        for index, part in enumerate(self._answer.parts):
            opened = self._item(part, index, is_done=False)
            yield self._event("response.output_item.added", output_index=index, item=opened)
            match part:
                case Text():
                    yield from self._text(part, index)
                case Reasoning():
                    yield from self._reasoning(part, index)
                case ToolUse():
                    yield from self._tool_use(part, index)
            done = self._item(part, index, is_done=True)
            yield self._event("response.output_item.done", output_index=index, item=done)

    def end(self) -> Iterator[Frame]:
        response = self.whole()
        yield self._event(f"response.{response['status']}", response=response)

    def error(self, message: str) -> bytes:
        _, frame = self._event("error", code="server_error", message=message, param=None)
        return frame

    def whole(self) -> dict[str, Any]:
        is_cut = self._answer.finish_reason in _INCOMPLETE
        parts = enumerate(self._answer.parts)
        output = [self._item(part, index, is_done=True) for index, part in parts]
        return self._response("incomplete" if is_cut else "completed", output)

    def _text(self, part: Text, index: int) -> Iterator[Frame]:
        place = {"item_id": self._item_id("msg", index), "output_index": index, "content_index": 0}
        empty, full = _text_part(""), _text_part(part.whole)
        yield self._event("response.content_part.added", **place, part=empty)
        for piece in part.delivered:
            _, frame = self._event("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield part.interval, frame
        yield self._event("response.output_text.done", **place, text=part.whole, logprobs=[])
        yield self._event("response.content_part.done", **place, part=full)

    def _reasoning(self, part: Reasoning, index: int) -> Iterator[Frame]:
        place = {"item_id": self._item_id("rs", index), "output_index": index, "summary_index": 0}
        empty, full = _summary(""), _summary(part.text)
        yield self._event("response.reasoning_summary_part.added", **place, part=empty)
        for piece in in_words(part.text):
            _, frame = self._event("response.reasoning_summary_text.delta", **place, delta=piece)
            yield part.interval, frame
        yield self._event("response.reasoning_summary_text.done", **place, text=part.text)
        yield self._event("response.reasoning_summary_part.done", **place, part=full)

    def _tool_use(self, part: ToolUse, index: int) -> Iterator[Frame]:
        place = {"item_id": self._item_id("fc", index), "output_index": index}
        arguments = part.arguments_json
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            yield self._event("response.function_call_arguments.delta", **place, delta=piece)
        finished = {**place, "name": part.name, "arguments": arguments}
        yield self._event("response.function_call_arguments.done", **finished)

    def _item(
        self, part: Text | Reasoning | ToolUse, index: int, *, is_done: bool
    ) -> dict[str, Any]:
        status = "completed" if is_done else "in_progress"
        match part:
            case Text():
                return {
                    "id": self._item_id("msg", index),
                    "type": "message",
                    "status": status,
                    "role": "assistant",
                    "content": [_text_part(part.whole)] if is_done else [],
                }
            case Reasoning():
                return {
                    "id": self._item_id("rs", index),
                    "type": "reasoning",
                    "summary": [_summary(part.text)] if is_done else [],
                }
            case ToolUse():
                return {
                    "id": self._item_id("fc", index),
                    "type": "function_call",
                    "status": status,
                    "call_id": call_id(part.id, self._request, self._tool_position(index)),
                    "name": part.name,
                    "arguments": part.arguments_json if is_done else "",
                }

    def _tool_position(self, index: int) -> int:
        return sum(isinstance(part, ToolUse) for part in self._answer.parts[:index])

    def _item_id(self, prefix: str, index: int) -> str:
        return f"{prefix}_{self._request.number}_{index}"

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        reason = _INCOMPLETE.get(self._answer.finish_reason) if status == "incomplete" else None
        return {
            "id": f"resp_{self._request.number}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": None,
            "metadata": {},
            "model": self._request.model,
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": None if status == "in_progress" else self._usage(),
        }

    def _usage(self) -> dict[str, Any]:
        spent, made = self._request.input_tokens, self._answer.output_tokens
        return {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": self._answer.reasoning_tokens},
            "total_tokens": spent + made,
        }

    def _event(self, kind: str, **fields: Any) -> Frame:
        number = self._sequence
        self._sequence += 1
        return 0.0, event({"type": kind, "sequence_number": number, **fields}, kind)


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
