"""The bridge's wire: a chat-completions body in, a chat completion out. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hermes.backends.claude import DEFAULT_MODEL, MODELS, Answered
from hermes.backends.prompt import build_prompt, invalid
from hermes.backends.workspaces.reports import SyncReport
from hermes.core.errors import InvalidRequest
from hermes.core.turn import Usage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the CLI is asked."""

    model: str
    prompt: str


def parse_request(body: bytes) -> ChatRequest:
    """Raises `InvalidRequest`. Fields the CLI has no use for are ignored."""
    fields = _object(body)
    if fields.get("stream") not in (None, False):
        detail = 'leave out "stream" or set it to false'
        raise InvalidRequest(
            "streaming not supported", param="stream", extra={"detail": detail, "param": "stream"}
        )
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages must be a list with at least one message", param="messages")
    prompt = build_prompt(messages)
    return ChatRequest(_model(fields.get("model")), prompt)


def _object(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise invalid("the body is not valid JSON", param="body") from error
    if not isinstance(fields, dict):
        raise invalid('the body must be a JSON object with "messages"', param="body")
    return fields


def _model(named: Any) -> str:
    if named is None:
        return DEFAULT_MODEL
    if isinstance(named, str) and named in MODELS:
        return named
    raise InvalidRequest("unsupported model", param="model", extra={"supported": list(MODELS)})


def completion(
    reply: Answered, *, model: str, completion_id: str, created: int, sync: SyncReport | None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": completion_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _usage(reply.usage),
        "hermes": {
            "cost_usd": reply.cost_usd,
            "session_id": reply.session_id,
            "git_sync": sync.status.value if sync else None,
        },
    }


def _usage(usage: Usage) -> dict[str, Any]:
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
