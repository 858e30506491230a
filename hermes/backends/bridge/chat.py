"""The bridge's chat wire: a chat-completions body in, a chat completion or its pieces out. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hermes.backends.bridge.body import invalid, model_of, read_object
from hermes.backends.bridge.claude import MODELS
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.prompt import build_prompt
from hermes.core.errors import InvalidRequest
from hermes.core.usage import Usage

DONE = b"data: [DONE]\n\n"
HEARTBEAT = b": still at work\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What the CLI is asked, and how the answer is wanted."""

    model: str
    prompt: str
    wants_stream: bool = False
    wants_usage: bool = False
    """Whether a stream ends with the tokens it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What all parts of an answer have in common."""

    id: str
    model: str
    created: int

    def whole(self, outcome: Outcome) -> dict[str, Any]:
        message = {"role": "assistant", "content": outcome.ending.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            **self._opening("chat.completion"),
            "choices": [choice],
            "usage": usage_fields(outcome.ending.usage),
            "hermes": _extras(outcome),
        }

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def last(self, outcome: Outcome, *, wants_usage: bool) -> bytes:
        end = self._chunk({}, finish_reason="stop", hermes=_extras(outcome))
        if not wants_usage:
            return end + DONE
        opening = self._opening("chat.completion.chunk")
        usage = {**opening, "choices": [], "usage": usage_fields(outcome.ending.usage)}
        return end + _event(usage) + DONE

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _event({**self._opening("chat.completion.chunk"), "choices": [choice], **more})

    def _opening(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def parse_request(body: bytes, *, can_stream: bool) -> ChatRequest:
    """Raises `InvalidRequest`. Fields the CLI has no use for are ignored."""
    fields = read_object(body, wants="messages")
    wants_stream = fields.get("stream") not in (None, False)
    if wants_stream and not can_stream:
        detail = 'leave out "stream" or set it to false'
        raise InvalidRequest(
            "streaming not supported", param="stream", extra={"detail": detail, "param": "stream"}
        )
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages must be a list with at least one message", param="messages")
    options = fields.get("stream_options")
    return ChatRequest(
        prompt=build_prompt(messages),
        model=model_of(fields),
        wants_stream=wants_stream,
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def failure_event(body: dict[str, Any]) -> bytes:
    """What ends a stream that has begun; no `[DONE]` follows."""
    return _event(body)


def usage_fields(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def model_list() -> dict[str, Any]:
    entries = [
        {"id": model, "object": "model", "created": 0, "owned_by": "anthropic"} for model in MODELS
    ]
    return {"object": "list", "data": entries}


def _extras(outcome: Outcome) -> dict[str, Any]:
    return {
        "cost_usd": outcome.ending.usage.cost_usd,
        "session_id": outcome.ending.session_id,
        "git_sync": outcome.sync.status.value if outcome.sync else None,
    }


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"
