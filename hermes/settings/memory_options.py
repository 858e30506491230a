"""The options of what the agent remembers and is told without being asked."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.option import Option

MEMORY_OPTIONS = (
    Option(
        name="memory.enabled",
        kind=kinds.YES_OR_NO,
        config="memory.enabled",
        default="true",
        sentence="Whether the agent remembers facts from one conversation to the next.",
    ),
    Option(
        name="memory.max_characters",
        kind=kinds.whole_number(0, 100_000),
        config="memory.max_characters",
        default="4000",
        sentence="How much of what it remembers the model is told; it can look up the rest.",
    ),
)

PROMPT_OPTIONS = (
    Option(
        name="agent.context_files",
        kind=kinds.YES_OR_NO,
        config="agent.context_files",
        default="true",
        sentence="Whether the agent is told of the workspace's AGENTS.md and of skills.",
    ),
)
