"""What a tool did to the machine: the files it changed and the commands it ran.

Contents are known by their digests; the shadow store has the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file, a link or a folder at one moment."""

    digest: str | None
    """SHA-256 of its bytes, or of where a link leads; None: of a folder, or not kept."""
    mode: int
    """The permission bits."""
    size: int
    is_link: bool = False
    is_folder: bool = False

    @property
    def is_known(self) -> bool:
        """Whether two equal states are sure to be the same content."""
        return self.digest is not None or self.is_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that was made, changed or removed."""

    path: str
    """Absolute."""
    before: FileState | None
    """None: there was none."""
    after: FileState | None
    """None: there is none any more."""
    is_sure: bool = True
    """False: another run worked in the same folder at the same time, so it may have been that."""
