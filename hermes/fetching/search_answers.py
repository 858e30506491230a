"""What search engines answer, read with care: whatever is not as described is left out."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from hermes.core.web import SearchResult

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def searxng_results(answer: Any) -> tuple[SearchResult, ...]:
    return _results(_member(answer, "results"), snippet="content")


def brave_results(answer: Any) -> tuple[SearchResult, ...]:
    return _results(_member(_member(answer, "web"), "results"), snippet="description")


def _results(found: Any, *, snippet: str) -> tuple[SearchResult, ...]:
    entries = found if isinstance(found, list) else []
    return tuple(
        SearchResult(
            title=_words(_member(entry, "title")),
            url=_member(entry, "url"),
            snippet=_words(_member(entry, snippet)),
        )
        for entry in entries
        if str(_member(entry, "url")).startswith(("https://", "http://"))
    )


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _words(value: Any) -> str:
    """Text on one line, without the marks that engines put around what they found."""
    text = html.unescape(_TAG.sub("", value)) if isinstance(value, str) else ""
    return " ".join(text.split())
