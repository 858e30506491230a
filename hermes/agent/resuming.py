"""What a turn that goes on must know of its beginning."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.core.messages import Message, tool_calls_of
from hermes.providers.prompt import function_of
from hermes.providers.reply import ToolCall


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the last assistant message that have no answer yet."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(str(message.get("tool_call_id")))
        elif message["role"] == "assistant":
            calls = [_call(part) for part in tool_calls_of(message)]
            return [call for call in calls if call.id not in answered]
    return []


def replies_in(messages: Sequence[Message]) -> int:
    """How often the model has answered."""
    return sum(message["role"] == "assistant" for message in messages)


def answered_calls_in(messages: Sequence[Message]) -> int:
    """How many calls that the model made in these messages have their answer."""
    made = {str(call.get("id")) for message in messages for call in tool_calls_of(message)}
    return sum(
        message["role"] == "tool" and str(message.get("tool_call_id")) in made
        for message in messages
    )


def _call(part: dict[str, object]) -> ToolCall:
    function = function_of(part)
    return ToolCall(
        id=str(part["id"]),
        name=str(function.get("name", "")),
        arguments=str(function.get("arguments") or ""),
        extra_content=part.get("extra_content"),
    )
