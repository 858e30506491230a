"""Files that clients upload: what is known of one, and what the flows need of their store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hermes.core.errors import BodyTooLarge


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """What is known of a file. Times are whole seconds since 1970."""

    id: str
    filename: str
    """What the client called it; never where it lies."""
    purpose: str
    bytes: int
    created_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage:
    """Which part of a list is wanted, the newest first unless said otherwise."""

    limit: int
    after: str | None = None
    """The id before the first one of the page."""
    is_ascending: bool = False
    purpose: str | None = None


class Draft(Protocol):
    """A file that is still arriving. Whoever began it keeps it or discards it."""

    path: Path
    size: int

    def write(self, data: bytes) -> None:
        """Raises `BodyTooLarge` before anything is over a limit."""

    def close(self) -> None: ...


class Uploads(Protocol):
    """The files that clients uploaded. Every call may block."""

    @property
    def max_bytes(self) -> int:
        """The limit for one file."""

    def too_large(self) -> BodyTooLarge:
        """What a file over the limit is answered with."""

    def begin(self) -> Draft: ...

    def keep(
        self, draft: Draft, *, filename: str, purpose: str, expires_after: int | None
    ) -> UploadedFile:
        """Make the draft a file; it is there when this returns."""

    def discard(self, draft: Draft) -> None:
        """Forget what arrived. A draft that was kept is left alone."""

    def get(self, file_id: str) -> UploadedFile | None: ...

    def path(self, file: UploadedFile) -> Path:
        """Where its bytes are, until it expires or is deleted."""

    def read(self, file: UploadedFile) -> bytes | None:
        """Its bytes; None when it was deleted meanwhile."""

    def page(self, page: FilePage) -> tuple[list[UploadedFile], bool]:
        """The files of a page, and whether there are more behind them."""

    def delete(self, file_id: str) -> bool:
        """False when there is no such file."""
