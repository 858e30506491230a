"""A model's `Reply` in the shape of a chat completion object, and back.

`AIAgent._interruptible_streaming_api_call` returns this shape, whatever dialect the provider
speaks, so that an embedder who replaces that method needs to know one shape only.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hermes.providers.chat_completions import ChatCompletions
from hermes.providers.reply import Reply, ReplyBuilder, ToolCall


def completion_from(reply: Reply) -> SimpleNamespace:
    message = SimpleNamespace(
        role="assistant",
        content=reply.text,
        tool_calls=[_call_object(call) for call in reply.tool_calls] or None,
        reasoning_content=reply.reasoning,
    )
    choice = SimpleNamespace(index=0, message=message, finish_reason=reply.finish_reason)
    return SimpleNamespace(
        choices=[choice], model=reply.model, usage=reply.raw_usage, hermes_reply=reply
    )


def reply_from(completion: Any) -> Reply:
    """The reply inside a completion: ours as it was, a foreign one read field by field."""
    carried = getattr(completion, "hermes_reply", None)
    if isinstance(carried, Reply):
        return carried
    builder = ReplyBuilder(on_text=_ignore, on_reasoning=_ignore)
    ChatCompletions().read_whole(completion, builder)
    return builder.build()


def _call_object(call: ToolCall) -> SimpleNamespace:
    return SimpleNamespace(
        id=call.id,
        type="function",
        function=SimpleNamespace(name=call.name, arguments=call.arguments),
        extra_content=call.extra_content,
    )


def _ignore(_piece: str) -> None:
    return None
