"""The fake provider's `POST /v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import orjson

from hermes.testing.dialect import Frame, call_id, event
from hermes.testing.replies import Answer, Reasoning, Text, ToolUse, in_words
from hermes.testing.requests import ModelRequest


class ChatSpeaker:
    """Says an answer as a chat completion."""

    def __init__(self, answer: Answer, request: ModelRequest) -> None:
        self._answer = answer
        self._request = request
        self._identity = {
            "id": f"chatcmpl-{request.number}",
            "created": int(time.time()),
            "model": request.model,
        }

    def begin(self) -> Iterator[Frame]:
        yield 0.0, self._chunk({"role": "assistant", "content": ""})

    def deliver(self) -> Iterator[Frame]:
        position = 0
        for part in self._answer.parts:
            match part:
                case Text():
                    yield from self._text(part)
                case Reasoning():
                    for piece in in_words(part.text):
                        yield part.interval, self._chunk({"reasoning_content": piece})
                case ToolUse():
                    yield from self._tool_use(part, position)
                    position += 1

    def end(self) -> Iterator[Frame]:
        yield 0.0, self._chunk({}, self._answer.finish_reason)
        options = self._request.body.get("stream_options") or {}
        if options.get("include_usage"):
            yield 0.0, event({**self._chunk_head(), "choices": [], "usage": self._usage()})
        yield 0.0, b"data: [DONE]\n\n"

    def error(self, message: str) -> bytes:
        return event({"error": {"message": message, "type": "server_error", "code": None}})

    def whole(self) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": self._message(),
            "finish_reason": self._answer.finish_reason,
            "logprobs": None,
        }
        kind = {"object": "chat.completion"}
        return {**self._identity, **kind, "choices": [choice], "usage": self._usage()}

    def _text(self, part: Text) -> Iterator[Frame]:
        # A long stream repeats a few pieces: everything around a piece is encoded only once.
        marker = b'"\\u0000"'
        frame = self._chunk({"content": "\0"})
        before, _, after = frame.rpartition(marker)
        known: dict[str, bytes] = {}
        for piece in part.delivered:
            if piece not in known:
                known[piece] = before + orjson.dumps(piece) + after
            yield part.interval, known[piece]

    def _tool_use(self, part: ToolUse, position: int) -> Iterator[Frame]:
        arguments = part.arguments_json
        half = len(arguments) // 2
        opening = {
            "index": position,
            "id": call_id(part.id, self._request, position),
            "type": "function",
            "function": {"name": part.name, "arguments": ""},
        }
        yield 0.0, self._chunk({"tool_calls": [opening]})
        for piece in (arguments[:half], arguments[half:]):
            delta = {"index": position, "function": {"arguments": piece}}
            yield 0.0, self._chunk({"tool_calls": [delta]})

    def _message(self) -> dict[str, Any]:
        parts = self._answer.parts
        text = "".join(part.whole for part in parts if isinstance(part, Text))
        thought = "".join(part.text for part in parts if isinstance(part, Reasoning))
        uses = [part for part in parts if isinstance(part, ToolUse)]
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
        if thought:
            message["reasoning_content"] = thought
        if uses:
            message["tool_calls"] = [
                {
                    "id": call_id(use.id, self._request, position),
                    "type": "function",
                    "function": {"name": use.name, "arguments": use.arguments_json},
                }
                for position, use in enumerate(uses)
            ]
        return message

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return event({**self._chunk_head(), "choices": [choice]})

    def _chunk_head(self) -> dict[str, Any]:
        return {**self._identity, "object": "chat.completion.chunk"}

    def _usage(self) -> dict[str, Any]:
        prompt, completion = self._request.input_tokens, self._answer.output_tokens
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": self._answer.reasoning_tokens},
        }
