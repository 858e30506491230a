"""The web as tools see it: pages as text, search results, and who gets them.

Whoever fetches says in `NotFetched` (hermes.core.errors) why something could not be had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

IsStopped = Callable[[], bool]
"""Asked while something takes long; True means that nobody waits for it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a URL led to, as text to read. All of it but the size is foreign data."""

    url: str
    """Where it was found, after all redirects."""
    title: str
    media_type: str
    size: int
    """Bytes that arrived, unpacked."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One thing that a search engine found. All of it is foreign data."""

    title: str
    url: str
    snippet: str


class PageReader(Protocol):
    """Fetches pages. Safe to use from any thread."""

    def missing(self) -> str | None:
        """What has to be installed or configured first, in words for the user; None: nothing."""

    def read(self, url: str, is_stopped: IsStopped) -> Page:
        """Blocks. Raises `NotFetched`, or `Interrupted` soon after `is_stopped` says so."""


class SearchEngine(Protocol):
    """Searches the web. Safe to use from any thread."""

    def missing(self) -> str | None:
        """What has to be configured first, in words for the user; None: nothing."""

    def search(self, query: str, most: int, is_stopped: IsStopped) -> tuple[SearchResult, ...]:
        """Blocks. Raises `NotFetched`, or `Interrupted` soon after `is_stopped` says so."""


class PageKind(Enum):
    """How the bytes of a page become text."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"
    UNSAID = "unsaid"
    """The server does not say; the bytes do."""


_KINDS = {
    "": PageKind.UNSAID,
    "application/octet-stream": PageKind.UNSAID,
    "binary/octet-stream": PageKind.UNSAID,
    "text/html": PageKind.HTML,
    "application/xhtml+xml": PageKind.HTML,
    "application/pdf": PageKind.PDF,
    "application/json": PageKind.TEXT,
    "application/x-ndjson": PageKind.TEXT,
    "application/xml": PageKind.TEXT,
    "application/yaml": PageKind.TEXT,
    "application/x-yaml": PageKind.TEXT,
    "application/toml": PageKind.TEXT,
    "application/javascript": PageKind.TEXT,
    "application/x-javascript": PageKind.TEXT,
    "application/x-sh": PageKind.TEXT,
    "application/sql": PageKind.TEXT,
}


def page_kind(media_type: str) -> PageKind | None:
    """What can be made of a media type (in lower case, without parameters); None: nothing."""
    if media_type in _KINDS:
        return _KINDS[media_type]
    is_text = media_type.startswith("text/") or media_type.endswith(("+json", "+xml", "+yaml"))
    # An SVG is a picture to everybody but a parser; its text is still text.
    return PageKind.TEXT if is_text else None
