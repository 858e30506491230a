"""What the demo model reads out of a request: the wish, what came before, the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.data_marks import unmark
from hermes.core.messages import Content, Message, text_of, tool_calls_of
from hermes.providers.prompt import chosen_function, function_of

_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool reported."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request as the demo model sees it."""

    request: str
    """What the user wants now."""
    earlier: tuple[str, ...] = ()
    """What the user wrote before, oldest first."""
    has_image: bool = False
    results: tuple[Result, ...] = ()
    """What the tools of this turn reported, in order."""
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The tools that may be asked for: their names and the schemas of their arguments."""
    insists_on: tuple[str, ...] = ()
    """The tools of which one has to be used now; none when the choice is free."""


def read_conversation(
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    tool_choice: str | dict[str, Any] = "auto",
) -> Conversation:
    """The turn starts at the last user message; everything after it is the turn's own work."""
    asked = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    content: Content = messages[asked[-1]].get("content") or "" if asked else ""
    work = messages[asked[-1] :] if asked else messages
    offered = _offered(tools) if tool_choice != "none" else {}
    return Conversation(
        request=text_of(content).strip(),
        earlier=tuple(text_of(messages[at].get("content")).strip() for at in asked[:-1]),
        has_image=any(_has_image(message.get("content")) for message in work),
        results=_results(work),
        tools=offered,
        insists_on=_insisted(tool_choice, offered),
    )


def _offered(tools: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    functions = [tool.get("function", {}) for tool in tools]
    return {str(function.get("name")): function.get("parameters") or {} for function in functions}


def _insisted(choice: str | dict[str, Any], offered: Mapping[str, Any]) -> tuple[str, ...]:
    if choice == "required":
        return tuple(offered)
    name = chosen_function(choice)
    return (name,) if name is not None and name in offered else ()


def _results(work: Sequence[Message]) -> tuple[Result, ...]:
    calls = [call for message in work for call in tool_calls_of(message)]
    names = {call.get("id"): str(function_of(call).get("name")) for call in calls}
    return tuple(
        Result(names.get(message.get("tool_call_id"), "a tool"), _reported(message))
        for message in work
        if message.get("role") == "tool"
    )


def _reported(message: Message) -> str:
    return unmark(text_of(message.get("content")))


def _has_image(content: Content | None) -> bool:
    return isinstance(content, list) and any(part.get("type") in _IMAGE_PARTS for part in content)
