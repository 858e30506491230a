"""What every platform adapter of the gateway shares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendResult:
    """Whether a message could be pushed to a chat, and why not."""

    success: bool
    error: str | None = None
