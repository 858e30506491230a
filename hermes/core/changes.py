"""What a tool did to the machine: the files it changed and the commands it ran.

Contents are known by their digests; the shadow store has the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file at one moment."""

    digest: str | None
    """SHA-256 of its bytes, or of where a link leads; None: too large to be kept."""
    mode: int
    """The permission bits."""
    size: int
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that was made, changed or removed."""

    path: str
    """Absolute."""
    before: FileState | None
    """None: there was none."""
    after: FileState | None
    """None: there is none any more."""
