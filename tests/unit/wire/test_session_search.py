"""Searching sessions on the wire."""

from __future__ import annotations

import pytest

from hermes.core.errors import InvalidRequest
from hermes.core.sessions import SearchHit, SearchPage
from hermes.wire.session_search import LONGEST_QUERY, SearchQuery, parse_search, search_answer

HIT = SearchHit(
    session_id="s",
    title="T",
    message_id=3,
    role="user",
    timestamp=1.5,
    snippet="a word here",
    highlights=((2, 6),),
    score=0.25,
)


def test_a_question_has_words_and_a_page() -> None:
    assert parse_search({"q": " word "}) == SearchQuery("word", 20, 0)
    assert parse_search({"q": "x", "limit": "5", "offset": "9"}) == SearchQuery("x", 5, 9)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "q"),
        ({"q": " "}, "q"),
        ({"q": "x" * (LONGEST_QUERY + 1)}, "q"),
        ({"q": "x", "limit": "101"}, "limit"),
        ({"q": "x", "offset": "10001"}, "offset"),
    ],
)
def test_a_question_out_of_bounds_is_refused_by_name(query: dict[str, str], param: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse_search(query)
    assert refusal.value.param == param


def test_hits_are_listed_with_their_places() -> None:
    page = SearchPage(hits=[HIT], total=None, has_more=True)
    assert search_answer(SearchQuery("word", 1, 2), page) == {
        "object": "list",
        "query": "word",
        "data": [
            {
                "object": "hermes.session.hit",
                "session_id": "s",
                "title": "T",
                "message_id": 3,
                "role": "user",
                "timestamp": 1.5,
                "snippet": "a word here",
                "highlights": [[2, 6]],
                "score": 0.25,
            }
        ],
        "limit": 1,
        "offset": 2,
        "total": None,
        "has_more": True,
    }
