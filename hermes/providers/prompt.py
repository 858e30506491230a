"""What is asked of a model in one call, before any dialect has worded it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.messages import Message
from hermes.core.turn import AnswerFormat, Sampling
from hermes.providers.caching import NO_CACHING, Caching

_REASONING_MODEL = re.compile(r"^(o[1-9]|gpt-([5-9]|[1-9]\d)|codex)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One model call. Messages are in the chat-completions shape."""

    model: str
    system: str | None
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]]
    """Tool definitions in the chat-completions shape."""
    sampling: Sampling = field(default_factory=Sampling)
    reasoning_effort: str | None = None
    answer_format: AnswerFormat | None = None
    tool_choice: str | dict[str, Any] = "auto"
    """`auto`, `none`, `required`, or a function by name in the chat-completions shape."""
    parallel_tool_calls: bool | None = None
    caching: Caching = NO_CACHING


def is_openai_reasoning_model(model: str) -> bool:
    """OpenAI's reasoning models name their parameters differently; a `vendor/` prefix is fine."""
    return _REASONING_MODEL.match(model.rsplit("/", 1)[-1].lower()) is not None


def asks_to_think(reasoning_effort: str | None) -> bool:
    return reasoning_effort not in (None, "none")


def chosen_function(choice: str | dict[str, Any]) -> str | None:
    """The name of the one function a tool choice insists on."""
    return str(function_of(choice).get("name")) if isinstance(choice, dict) else None


def asked_for(optional: dict[str, Any]) -> dict[str, Any]:
    """The arguments that somebody gave a value; a provider decides about the others."""
    return {key: value for key, value in optional.items() if value is not None}


def replay_items(message: Message, api_mode: str) -> list[dict[str, Any]]:
    """The provider items an assistant message carries for this api mode."""
    replay = message.get("replay")
    if not isinstance(replay, dict) or replay.get("api_mode") != api_mode:
        return []
    items = replay.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def function_of(tool: dict[str, Any]) -> dict[str, Any]:
    """The function part of a chat-completions tool definition or tool call."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool
