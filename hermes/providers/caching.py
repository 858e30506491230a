"""What a provider is told so that it reads the same beginning of a prompt only once. Pure.

Anthropic's own dialect marks its blocks by itself (`anthropic_blocks`); most others find what is
the same without being told, and some refuse parameters they do not know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.messages import Message
from hermes.settings.known_providers import OPENAI, OPENROUTER
from hermes.settings.model import ProviderSettings

MARK = {"type": "ephemeral"}
_MARKED_TURNS = 2
"""The end of the conversation, and where it ended at the call before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    key: str | None = None
    """The same for all prompts of a conversation; for providers that go by it."""
    passes_marks: bool = False
    """Whether Anthropic's marks are passed on to a model of theirs."""


NO_CACHING = Caching()
_WITH_MARKS = Caching(passes_marks=True)


def caching_for(provider: ProviderSettings, *scope: str | None) -> Caching:
    """`scope` names the conversation; a provider learns nothing of it but that it is the same."""
    if provider.provider == OPENAI.name and any(scope):
        return Caching(key=_digest("\0".join(part or "" for part in scope)))
    if provider.provider == OPENROUTER.name and provider.model.startswith("anthropic/"):
        return _WITH_MARKS
    return NO_CACHING


def _digest(scope: str) -> str:
    return hashlib.sha256(scope.encode(errors="surrogatepass")).hexdigest()[:32]


def with_marks(worded: Sequence[Message]) -> list[Message]:
    """Chat messages with marks at the system prompt and at the last words of the user."""
    said = [place for place, message in enumerate(worded) if message["role"] == "user"]
    told = [place for place, message in enumerate(worded[:1]) if message["role"] == "system"]
    marked = {*told, *said[-_MARKED_TURNS:]}
    return [
        _marked(message) if place in marked else message for place, message in enumerate(worded)
    ]


def _marked(message: Message) -> Message:
    content = message.get("content")
    parts: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    )
    if not parts or content == "":  # an empty part cannot be marked
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": MARK}]}
