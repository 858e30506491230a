"""What a CLI agent remembers of a session itself, so that it need not be told everything again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hermes.core.messages import Message, text_of
from hermes.core.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CliMemory:
    """The CLI's own conversation that stands for a session of ours."""

    agent: str
    session_id: str
    """Ours."""
    home_id: str
    """The folder that holds what the CLI remembers."""
    cli_session_id: str
    """The CLI's, as the CLI itself told it."""
    fingerprint: str
    """Of all that was said when it was used last: it may go on only from there."""
    used: Usage = NO_USAGE
    """What it had used by then, where the CLI only ever tells totals."""


class CliMemories(Protocol):
    """May block. Safe to use from any thread."""

    def find(self, agent: str, session_id: str) -> CliMemory | None: ...

    def keep(self, memory: CliMemory) -> None:
        """In the place of what was kept for this agent and session before."""

    def forget(self, session_id: str) -> list[CliMemory]:
        """Drop all that stands for this session; what that was, so that its folders can go too."""


def fingerprint_of(messages: Sequence[Message]) -> str:
    """The same for the same words, however they were stored meanwhile.

    Only what people and models said counts: a session that was edited, shortened or gone on with by
    somebody else has another one.
    """
    digest = hashlib.sha256()
    for message in messages:
        said = text_of(message.get("content")).strip()
        if said and message.get("role") in ("user", "assistant"):
            digest.update(f"{message['role']}\0{said}\0".encode(errors="replace"))
    return digest.hexdigest()
