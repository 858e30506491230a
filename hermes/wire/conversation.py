"""A list of messages, split into what the agent is asked, what it is told, and what went before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content, Message, text_of, tool_calls_of
from hermes.wire.content import normalise, plain_text
from hermes.wire.lenient import required_text, shown, text, wrong_type


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one request, by the part they play."""

    system_prompt: str | None
    user_message: Content | None
    """None when the last word is a tool's."""
    tool_results: list[Message]
    """The tool messages right before the user's, or at the very end: they answer the last turn."""
    history: list[Message]
    first_user_text: str
    """What the conversation began with; its session is named after it."""


def split(messages: Sequence[Message], *, param: str) -> Conversation:
    """Takes the chat shape. The last message that is not a system one is the user's or a tool's."""
    prompts = [str(message["content"]) for message in messages if message["role"] == "system"]
    spoken = [message for message in messages if message["role"] != "system"]
    if not spoken or spoken[-1]["role"] not in ("user", "tool"):
        raise InvalidRequest(_no_question(spoken, param), param=param, code="invalid_value")
    first = next((message for message in spoken if message["role"] == "user"), None)
    asked = spoken.pop()["content"] if spoken[-1]["role"] == "user" else None
    end = len(spoken)
    while end and spoken[end - 1]["role"] == "tool":
        end -= 1
    return Conversation(
        system_prompt="\n\n".join(prompts) if prompts else None,
        user_message=asked,
        tool_results=spoken[end:],
        history=spoken[:end],
        first_user_text=text_of(first["content"]) if first else "",
    )


def refuse_stray_results(
    history: Sequence[Message], results: Sequence[Message], *, param: str
) -> None:
    """Every result must answer a call that the history knows and nobody has answered yet."""
    answered = {message.get("tool_call_id") for message in history}
    called = {call["id"] for message in history for call in tool_calls_of(message)}
    for result in results:
        call_id = result["tool_call_id"]
        if call_id not in called - answered:
            raise InvalidRequest(
                f"No open tool call has the id {shown(call_id)}; send the assistant message that "
                "made the call before its result, and each result once.",
                param=param,
                code="unknown_call_id",
            )
        answered.add(call_id)


def _no_question(spoken: Sequence[Message], param: str) -> str:
    if not spoken:
        return f"'{param}' holds no user message; add one as the last."
    role = spoken[-1]["role"]
    return (
        f"The last message in '{param}' must be the user's or a tool result, but it is from "
        f"'{role}'."
    )


def read_plain(role: str, raw: dict[str, Any], param: str) -> Message:
    """A message of the roles both dialects share: system, developer, user."""
    content = raw.get("content")
    if role == "user":
        said = {"role": "user", "content": normalise(content, param=f"{param}.content")}
        if "name" in raw:
            add_name(said, raw, param)
        return said
    return {"role": "system", "content": plain_text(content, param=f"{param}.content")}


def add_name(message: Message, raw: Mapping[str, Any], param: str) -> None:
    """Who of several speakers this is, where the client says so."""
    name = text(raw, "name", param=f"{param}.name")
    if name:
        message["name"] = name


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
