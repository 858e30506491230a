"""What the demo model reads out of a request: the wish, what came before, the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.messages import Content, Message, text_of

_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request as the demo model sees it."""

    request: str
    """What the user wants now."""
    earlier: tuple[str, ...] = ()
    """What the user wrote before, oldest first."""
    has_image: bool = False
    results: tuple[str, ...] = ()
    """What the tools of this turn reported, in order."""
    tools: frozenset[str] = frozenset()
    """The names of the tools that may be asked for."""


def read_conversation(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
) -> Conversation:
    """The turn starts at the last user message; everything after it is the turn's own work."""
    asked = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    content: Content = messages[asked[-1]].get("content") or "" if asked else ""
    work = messages[asked[-1] :] if asked else messages
    return Conversation(
        request=text_of(content).strip(),
        earlier=tuple(text_of(messages[at].get("content")).strip() for at in asked[:-1]),
        has_image=_has_image(content),
        results=tuple(text_of(m.get("content")) for m in work if m.get("role") == "tool"),
        tools=frozenset(str(tool.get("function", {}).get("name")) for tool in tools),
    )


def _has_image(content: Content) -> bool:
    return isinstance(content, list) and any(part.get("type") in _IMAGE_PARTS for part in content)
