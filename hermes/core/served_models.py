"""The models clients can ask for, as far as the server has to know them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """What stands behind a name in /v1/models."""

    model: str
    """The provider's name for it."""
    api_mode: str = "chat_completions"
    """The dialect it is asked in; `demo` for the built-in model."""
    has_vision: bool = True
    reasoning_effort: str | None = None
    context_window: int = 128_000
    """How many tokens it reads and writes at once."""
