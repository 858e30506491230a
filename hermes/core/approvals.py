"""Asking a person before a tool runs: what is asked, and what can be answered."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without those that look alike."""
CODE_LENGTH = 5


class Decision(Enum):
    """What a person said about a call that must be approved."""

    ONCE = "once"
    SESSION = "session"
    """This command needs no further question in this session."""
    ALWAYS = "always"
    """Nor in any other session of the same key."""
    DENY = "deny"

    @property
    def allows(self) -> bool:
        return self is not Decision.DENY


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One call that waits for a decision."""

    id: str
    code: str
    """Short enough to type; the same for all calls that wait together."""
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    shown: str
    """Exactly what would be done: the command, the path."""
    reason: str
    """Why nobody but a person should decide this, in words for that person."""
    expires_at: float
    """Unix time; without an answer until then it is denied."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A command that was approved for longer than once."""

    tool: str
    shown: str
    session_id: str | None = None
    """None: in every session."""


def new_code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
