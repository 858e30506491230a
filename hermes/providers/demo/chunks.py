"""What the demo model decided, in the shape of a chat completion: whole, or chunk by chunk."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes.core.messages import Message
from hermes.providers.demo.moves import Move, Say, Use

MODEL = "hermes-demo"

_ARGUMENTS_PER_CHUNK = 12
CHARACTERS_PER_TOKEN = 4


def completion(move: Move, messages: Sequence[Message]) -> dict[str, Any]:
    """The whole answer as one `chat.completion`."""
    body = _envelope("chat.completion", messages)
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    match move:
        case Say():
            message["content"] = move.text
        case Use():
            message["tool_calls"] = [_tool_call(move, messages)]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(move)}
    body["choices"] = [{**choice, "logprobs": None}]
    body["usage"] = usage(move, messages)
    return body


def chunks(move: Move, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """The same answer as `chat.completion.chunk`s: role, pieces, finish reason, usage."""
    envelope = _envelope("chat.completion.chunk", messages)

    def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return {
            **envelope,
            "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish_reason}],
        }

    yield chunk({"role": "assistant", "content": "" if isinstance(move, Say) else None})
    for delta in _deltas(move, messages):
        yield chunk(delta)
    yield chunk({}, _finish_reason(move))
    yield {**envelope, "choices": [], "usage": usage(move, messages)}


def pieces(text: str) -> list[str]:
    """`text` cut the way a model streams: words with their leading space, long words in parts."""
    return re.findall(r"\s*\S{1,8}|\s+", text)


def usage(move: Move, messages: Sequence[Message]) -> dict[str, int]:
    """Token numbers. An estimate (four characters are a token): there is no tokenizer here."""
    prompt = _estimate(json.dumps(messages, default=str))
    answer = _estimate(move.text if isinstance(move, Say) else arguments_json(move))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def _deltas(move: Move, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    match move:
        case Say():
            for piece in pieces(move.text):
                yield {"content": piece}
        case Use():
            call = _tool_call(move, messages)
            opening = {"name": move.tool, "arguments": ""}
            yield {"tool_calls": [{"index": 0, **call, "function": opening}]}
            for part in _cut(call["function"]["arguments"]):
                yield {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}


def _cut(arguments: str) -> list[str]:
    starts = range(0, len(arguments), _ARGUMENTS_PER_CHUNK)
    return [arguments[start : start + _ARGUMENTS_PER_CHUNK] for start in starts]


def _envelope(kind: str, messages: Sequence[Message]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-demo-{_fingerprint(messages)}",
        "object": kind,
        "created": int(time.time()),
        "model": MODEL,
    }


def _tool_call(move: Use, messages: Sequence[Message]) -> dict[str, Any]:
    return {
        "id": f"call_demo_{_fingerprint(messages)}",
        "type": "function",
        "function": {"name": move.tool, "arguments": arguments_json(move)},
    }


def arguments_json(move: Use) -> str:
    return json.dumps(dict(move.arguments), ensure_ascii=False)


def _finish_reason(move: Move) -> str:
    if isinstance(move, Use):
        return "tool_calls"
    return "length" if move.is_cut else "stop"


def _fingerprint(messages: Sequence[Message]) -> str:
    """Differs from request to request of one conversation, since each adds messages to the last."""
    return hashlib.sha256(json.dumps(messages, default=str).encode()).hexdigest()[:16]


def _estimate(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
