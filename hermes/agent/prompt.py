"""The system prompt: its parts put together, what changes least first.

Providers cache the beginning of a prompt, so every part comes before those that change more often.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from hermes.agent import prompt_parts
from hermes.core.memories import NOTHING, Recollection
from hermes.core.messages import Message, tool_calls_of
from hermes.core.todos import Todo
from hermes.tools.skills import Skill

TODO_TOOL = "todo"
_SYSTEM = platform.system()
_MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the prompt, and what it is called."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """All that a system prompt is made of."""

    identity: str | None = None
    """None: the built-in one."""
    workspace: Path | None = None
    tools: tuple[str, ...] = ()
    """The names of the tools that the agent has."""
    system: str = _SYSTEM
    today: date = field(default_factory=date.today)
    sandbox: str = ""
    """What is to be known of the place where commands run; empty: nothing."""
    instructions: str = ""
    skills: tuple[Skill, ...] = ()
    memory: Recollection = NOTHING
    added_by_caller: str | None = None
    is_plain: bool = False
    """The model alone: it is told what the caller says, and nothing of tools it does not have."""


def prompt_parts_of(briefing: Briefing) -> list[Part]:
    """In order; what the caller says comes last, on top of all."""
    caller = Part("caller", briefing.added_by_caller or "")
    if briefing.is_plain:
        return _told([caller])
    return _told(
        [
            Part("identity", briefing.identity or prompt_parts.IDENTITY),
            Part("tools", prompt_parts.tools() if briefing.tools else ""),
            Part("environment", _environment(briefing)),
            Part("skills", prompt_parts.skills(briefing.skills)),
            Part("AGENTS.md", prompt_parts.instructions(briefing.instructions)),
            Part("memory", prompt_parts.memory(briefing.memory)),
            caller,
        ]
    )


def said_once(make: Callable[[], str]) -> Callable[[], str]:
    """What `make` says, however often it is asked for: a prompt stays the same in its turn."""
    said: list[str] = []

    def say() -> str:
        if not said:
            said.append(make())
        return said[0]

    return say


@functools.lru_cache(maxsize=_MOST_KEPT)
def system_prompt(briefing: Briefing) -> str:
    """Most turns begin with a prompt that was made before."""
    return "\n\n".join(part.text for part in prompt_parts_of(briefing))


def with_plan(system: str | None, plan: Sequence[Todo], messages: Sequence[Message]) -> str | None:
    """The prompt with the todo list, where the conversation does not show it any more.

    As long as it does, the prompt stays as it was: changing it would cost the provider's cache.
    """
    if not plan or any(_calls_todo(message) for message in messages):
        return system
    return "\n\n".join(filter(None, (system, prompt_parts.todos(plan))))


def _environment(briefing: Briefing) -> str:
    if briefing.workspace is None:
        return ""
    return prompt_parts.environment(
        briefing.workspace, briefing.system, briefing.today, briefing.sandbox
    )


def _told(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part.text]


def _calls_todo(message: Message) -> bool:
    return any(call.get("function", {}).get("name") == TODO_TOOL for call in tool_calls_of(message))
