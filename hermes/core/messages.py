"""Messages as JSON in the chat-completions shape: the one form history has in the house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]
"""`role`, `content`; an assistant's may have `tool_calls` and `reasoning`, a tool's has
`tool_call_id`."""

Content = str | list[dict[str, Any]]
"""Text, or a list of parts: `{"type": "text", …}` and `{"type": "image_url", …}`."""

UNKNOWN_OUTCOME = "The tool was interrupted before it reported back; its outcome is unknown."

SUMMARY = "This is a summary of our conversation so far:\n\n"


def text_of(content: Content | None) -> str:
    """The readable text of a message's content; images leave nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def user(content: Content) -> Message:
    return {"role": "user", "content": content}


def summary_note(summary: str) -> Message:
    """What a model is told in the place of messages that were summarised."""
    return user(SUMMARY + summary)


def assistant(text: str | None, tool_calls: Sequence[dict[str, Any]] = ()) -> Message:
    message: Message = {"role": "assistant", "content": text}
    if tool_calls:
        message["tool_calls"] = list(tool_calls)
    return message


def tool(call_id: str, name: str, output: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "tool_name": name, "content": output}


def tool_calls_of(message: Message) -> list[dict[str, Any]]:
    """The tool calls of an assistant message, or an empty list."""
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else []


def settle_open_calls(messages: Sequence[Message]) -> list[Message]:
    """Put one answer after every tool call: its own, or `UNKNOWN_OUTCOME` where it has none.

    A killed process leaves open calls behind, and turns that share a session record their messages
    interleaved; providers refuse a history with either.
    """
    settled: list[Message] = []
    places: dict[str, int] = {}
    for message in messages:
        place = _place_of(message, places)
        if place is not None:
            settled[place] = message
            continue
        settled.append(message)
        for call_id, name in _called(message).items():
            places[call_id] = len(settled)
            settled.append(tool(call_id, name, UNKNOWN_OUTCOME))
    return settled


def _place_of(message: Message, places: dict[str, int]) -> int | None:
    """Where the answer to an open call belongs; None for every other message."""
    if message.get("role") != "tool":
        return None
    return places.pop(str(message.get("tool_call_id")), None)


def _called(message: Message) -> dict[str, str]:
    return {
        str(call["id"]): str(call.get("function", {}).get("name", ""))
        for call in tool_calls_of(message)
    }
