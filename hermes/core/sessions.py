"""Parts of stored sessions as values: pages, hits of a search, summaries, whole sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.messages import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQuery:
    """Which messages of a session are wanted: those between two others, and in which order."""

    limit: int | None = None
    """None: all of them."""
    after: int | None = None
    """The id of a message; only later ones."""
    before: int | None = None
    """The id of a message; only earlier ones."""
    newest_first: bool = False


@dataclass(frozen=True, slots=True)
class MessagePage:
    messages: list[dict[str, Any]]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A message or a title that has the words that were looked for."""

    session_id: str
    title: str | None
    message_id: int | None
    """None: the title was found."""
    role: str | None
    timestamp: float
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    """Where in the snippet the words are: the first character, and the one after the last."""
    score: float
    """The higher, the better; only good for comparing hits of the same search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    hits: list[SearchHit]
    total: int | None
    """None: so many that nobody counts them."""
    has_more: bool


@dataclass(frozen=True, slots=True)
class HistorySummary:
    """What stands for the older messages of a session when a model is told its history."""

    up_to: int
    """The id of the last message it stands for."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead:
    """A session from elsewhere, without its id and its messages."""

    source: str
    model: str | None = None
    title: str | None = None
    parent_session_id: str | None = None
    end_reason: str | None = None
    started_at: float
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMessage:
    """A message from elsewhere."""

    role: str
    content: Content | None
    timestamp: float
    tool_calls: Sequence[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
