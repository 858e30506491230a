"""Tool definitions that every request of a process shares, so that they are encoded only once."""

from __future__ import annotations

from typing import Any


class ToolDefinitions(list[dict[str, Any]]):
    """A list of definitions in the chat-completions shape that nobody changes any more."""

    encoded: bytes | None = None
    """The list as JSON, kept here by whoever encoded it first."""
