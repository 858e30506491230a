"""What a CLI agent may do, and whether it can be used at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Profile(Enum):
    """How far a CLI agent may go. Each allows all that those before it allow."""

    CHAT = "chat"
    """Words only: no tools, no files of this machine."""
    READ_ONLY = "read-only"
    """It may look around in its workspace."""
    EDIT = "edit"
    """It may change files in its workspace; whatever else it wants to do is asked about."""
    FULL = "full"
    """It does what it wants, with the rights of the gateway's user."""

    @property
    def rank(self) -> int:
        return _ORDER.index(self)

    def within(self, ceiling: Profile) -> bool:
        return self.rank <= ceiling.rank


_ORDER = tuple(Profile)


class Readiness(Enum):
    """Whether a CLI can be asked something."""

    READY = "ready"
    NOT_FOUND = "not found"
    MISSING_DEPENDENCY = "missing dependency"
    """It is there but does not start."""
    LOGIN_UNKNOWN = "login unknown"
    """It starts, and nothing says how it would be paid for; it may know itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found out about an installed CLI."""

    readiness: Readiness
    version: str | None = None
    detail: str = ""
    """What was found, in words for the operator."""
    fix: str = ""
    """What to do next; empty when there is nothing to do."""
