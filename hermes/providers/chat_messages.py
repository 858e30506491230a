"""A conversation as the chat-completions wire wants it: nearly what we keep ourselves. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.core.messages import Message, text_of
from hermes.providers.prompt import Prompt, replay_items
from hermes.providers.reply import REASONING_CONTENT

API_MODE = "chat_completions"

# History carries more than the wire knows (tool_name, replay); strict providers refuse that.
_MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")


def worded_messages(prompt: Prompt) -> list[Message]:
    worded: list[Message] = []
    if prompt.system:
        worded.append({"role": "system", "content": prompt.system})
    pictures: list[Message] = []
    loop = _loop_begins(prompt.messages)
    for at, message in enumerate(prompt.messages):
        if message.get("role") == "tool":
            worded.append(_tool_message(message))
            pictures += _pictures(message)
            continue
        worded += pictures
        pictures = []
        worded.append(_message(message, is_in_loop=at > loop))
    return worded + pictures


def _loop_begins(messages: Sequence[Message]) -> int:
    """Where the user spoke last: what came after it belongs to the answer that is being made."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") == "user":
            return at
    return -1


def _tool_message(message: Message) -> Message:
    content = message.get("content")
    worded = _message(message)
    return {**worded, "content": text_of(content)} if isinstance(content, list) else worded


def _pictures(message: Message) -> list[Message]:
    """A tool's message can hold no picture here: the user shows it, after all the tools spoke."""
    content = message.get("content")
    if not isinstance(content, list):
        return []
    images = [part for part in content if part.get("type") == "image_url"]
    if not images:
        return []
    note = f"Returned by the tool call {message.get('tool_call_id')}:"
    return [{"role": "user", "content": [{"type": "text", "text": note}, *images]}]


def _message(message: Message, *, is_in_loop: bool = False) -> Message:
    cleaned = {key: message[key] for key in _MESSAGE_KEYS if key in message}
    if cleaned.get("content") is None and not cleaned.get("tool_calls"):
        cleaned["content"] = ""
    if "replay" in message:
        cleaned |= _replayed(message, is_in_loop=is_in_loop)
    return cleaned


def _replayed(message: Message, *, is_in_loop: bool) -> Message:
    """What the provider wants to see again: details always, plain thoughts between tool calls only.

    DeepSeek and Moonshot ask for the thoughts that led to the calls of this turn; those of earlier
    turns are refused by some, and of no use to any.
    """
    items = replay_items(message, API_MODE)
    details = [item for item in items if item.get("type") != REASONING_CONTENT]
    thoughts = [str(item.get("text")) for item in items if item.get("type") == REASONING_CONTENT]
    replayed: Message = {"reasoning_details": details} if details else {}
    if thoughts and is_in_loop:
        replayed["reasoning_content"] = "".join(thoughts)
    return replayed
