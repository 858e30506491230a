"""Messages as JSON in the chat-completions shape: the one form history has in the house."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Message = dict[str, Any]
"""`role`, `content`; an assistant's may have `tool_calls`, a tool's has `tool_call_id`."""

Content = str | list[dict[str, Any]]
"""Text, or a list of parts: `{"type": "text", …}` and `{"type": "image_url", …}`."""

UNKNOWN_OUTCOME = "The tool was interrupted before it reported back; its outcome is unknown."


def text_of(content: Content | None) -> str:
    """The readable text of a message's content; images leave nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def user(content: Content) -> Message:
    return {"role": "user", "content": content}


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
    """Answer every tool call that has no result with `UNKNOWN_OUTCOME`.

    A killed process leaves such calls behind; providers refuse a history that contains one.
    """
    settled: list[Message] = []
    awaited: dict[str, str] = {}
    for message in messages:
        if message.get("role") == "tool":
            awaited.pop(str(message.get("tool_call_id")), None)
        else:
            settled.extend(_unknown_outcomes(awaited))
            awaited = {
                str(call["id"]): str(call.get("function", {}).get("name", ""))
                for call in tool_calls_of(message)
            }
        settled.append(message)
    settled.extend(_unknown_outcomes(awaited))
    return settled


def _unknown_outcomes(awaited: dict[str, str]) -> Iterator[Message]:
    return (tool(call_id, name, UNKNOWN_OUTCOME) for call_id, name in awaited.items())
