"""A list of messages, split into what the agent is asked, what it is told, and what went before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content, Message, text_of
from hermes.wire.content import normalise, plain_text
from hermes.wire.lenient import required_text, wrong_type


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one request, by the part they play."""

    system_prompt: str | None
    user_message: Content
    history: list[Message]
    first_user_text: str
    """What the conversation began with; its session is named after it."""


def split(messages: Sequence[Message], *, param: str) -> Conversation:
    """Takes the chat shape. The last message that is not a system one must be the user's."""
    prompts = [str(message["content"]) for message in messages if message["role"] == "system"]
    spoken = [message for message in messages if message["role"] != "system"]
    if not spoken or spoken[-1]["role"] != "user":
        raise InvalidRequest(_no_question(spoken, param), param=param, code="invalid_value")
    first = next(message for message in spoken if message["role"] == "user")
    return Conversation(
        system_prompt="\n\n".join(prompts) if prompts else None,
        user_message=spoken[-1]["content"],
        history=spoken[:-1],
        first_user_text=text_of(first["content"]),
    )


def _no_question(spoken: Sequence[Message], param: str) -> str:
    if not spoken:
        return f"'{param}' holds no user message; add one as the last."
    role = spoken[-1]["role"]
    return f"The last message in '{param}' must be from the user, but it is from '{role}'."


def read_plain(role: str, raw: dict[str, Any], param: str) -> Message:
    """A message of the roles both dialects share: system, developer, user."""
    content = raw.get("content")
    if role == "user":
        return {"role": "user", "content": normalise(content, param=f"{param}.content")}
    return {"role": "system", "content": plain_text(content, param=f"{param}.content")}


def read_tool_call(raw: Any, param: str) -> dict[str, Any]:
    """A call in the chat shape. Unknown keys stay: some providers need theirs back."""
    if not isinstance(raw, dict):
        raise wrong_type(param, "a tool call object", raw)
    function = raw.get("function")
    if not isinstance(function, dict):
        raise wrong_type(f"{param}.function", "an object", function)
    required_text(raw, "id", param=f"{param}.id")
    required_text(function, "name", param=f"{param}.function.name")
    if not isinstance(function.get("arguments"), str):
        raise wrong_type(f"{param}.function.arguments", "a string", function.get("arguments"))
    return {"type": "function", **raw}
