"""A conversation as the chat-completions wire wants it: nearly what we keep ourselves. Pure."""

from __future__ import annotations

from hermes.core.messages import Message, text_of
from hermes.providers.prompt import Prompt, replay_items

API_MODE = "chat_completions"

# History carries more than the wire knows (tool_name, replay); strict providers refuse that.
_MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")


def worded_messages(prompt: Prompt) -> list[Message]:
    worded: list[Message] = []
    if prompt.system:
        worded.append({"role": "system", "content": prompt.system})
    pictures: list[Message] = []
    for message in prompt.messages:
        if message.get("role") == "tool":
            worded.append(_tool_message(message))
            pictures += _pictures(message)
            continue
        worded += pictures
        pictures = []
        worded.append(_message(message))
    return worded + pictures


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


def _message(message: Message) -> Message:
    cleaned = {key: message[key] for key in _MESSAGE_KEYS if key in message}
    if cleaned.get("content") is None and not cleaned.get("tool_calls"):
        cleaned["content"] = ""
    details = replay_items(message, API_MODE)
    if details:
        cleaned["reasoning_details"] = details
    return cleaned
