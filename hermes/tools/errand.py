"""What a sub-agent is sent to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    call_id: str
    """Of the tool call that sends it."""
    task: str
    toolsets: tuple[str, ...] | None = None
    """None: those of the agent that sends it."""
    max_iterations: int


RunErrand = Callable[[Errand], str]
"""Runs a sub-agent to its end and returns what it has to say. Blocks."""
