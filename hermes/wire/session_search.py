"""Searching sessions: the question as it comes in a URL, and the page of hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.sessions import SearchHit, SearchPage
from hermes.wire.queries import whole_number

LONGEST_QUERY = 500
MAX_HITS = 100
MAX_OFFSET = 10_000
_DEFAULT = 20


@dataclass(frozen=True, slots=True)
class SearchQuery:
    words: str
    limit: int = _DEFAULT
    offset: int = 0


def parse_search(query: Mapping[str, str]) -> SearchQuery:
    words = query.get("q", "").strip()
    if not words:
        raise InvalidRequest(
            "'q' is required: the words to look for.", param="q", code="missing_required_parameter"
        )
    if len(words) > LONGEST_QUERY:
        raise InvalidRequest(
            f"'q' must have at most {LONGEST_QUERY} characters.", param="q", code="invalid_value"
        )
    return SearchQuery(
        words=words,
        limit=whole_number(query, "limit", _DEFAULT, low=1, high=MAX_HITS),
        offset=whole_number(query, "offset", 0, low=0, high=MAX_OFFSET),
    )


def search_answer(asked: SearchQuery, page: SearchPage) -> dict[str, Any]:
    return {
        "object": "list",
        "query": asked.words,
        "data": [_hit(hit) for hit in page.hits],
        "limit": asked.limit,
        "offset": asked.offset,
        "total": page.total,
        "has_more": page.has_more,
    }


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "object": "hermes.session.hit",
        "session_id": hit.session_id,
        "title": hit.title,
        "message_id": hit.message_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "highlights": [list(place) for place in hit.highlights],
        "score": hit.score,
    }
