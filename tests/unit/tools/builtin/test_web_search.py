"""What an engine finds is listed as data; what it lacks or refuses is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hermes.core.errors import NotFetched
from hermes.core.web import IsStopped, SearchResult
from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from hermes.tools.services import Services

FOUND = (
    SearchResult(title="First", url="https://one.example/", snippet="Some words."),
    SearchResult(title="", url="https://two.example/", snippet=""),
)


@dataclass(slots=True)
class Engine:
    """Finds the same whatever it is asked, and remembers what that was."""

    outcome: tuple[SearchResult, ...] | Exception = FOUND
    lacks: str | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def missing(self) -> str | None:
        return self.lacks

    def search(self, query: str, most: int, is_stopped: IsStopped) -> tuple[SearchResult, ...]:
        self.asked.append((query, most))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


Search = Callable[..., str]


@pytest.fixture
def search(context: ToolContext) -> Search:
    def call(engine: Engine, **arguments: Any) -> str:
        services = Services(search_engine=engine)
        return Registry.builtin().run("web_search", arguments, replace(context, services=services))

    return call


def test_results_are_listed_with_their_urls_as_data(search: Search) -> None:
    engine = Engine()
    lines = search(engine, query=" two \n words ", max_results=3).split("\n")
    assert engine.asked == [("two words", 3)]
    assert "data from the search engine" in lines[0]
    assert lines[1:-1] == [
        "1. First",
        "https://one.example/",
        "Some words.",
        "",
        "2. (no title)",
        "https://two.example/",
    ]


def test_nothing_found_is_said(search: Search) -> None:
    assert search(Engine(()), query="x") == "Nothing was found. Use fewer or other words."


def test_why_nothing_could_be_searched_is_said(search: Search) -> None:
    assert search(Engine(NotFetched("Too often.")), query="x") == "Too often."


@pytest.mark.parametrize(
    ("query", "answer"), [(" \n", "query is empty"), ("x" * 401, "longer than 400 characters")]
)
def test_a_query_must_be_a_few_words(search: Search, query: str, answer: str) -> None:
    engine = Engine()
    assert answer in search(engine, query=query)
    assert engine.asked == []


def test_it_is_offered_only_where_somebody_searches(context: ToolContext) -> None:
    usable = Registry.builtin().usable(Services(search_engine=Engine()))
    assert "web_search" in usable.names()
    lacking = Registry.builtin().usable(Services(search_engine=Engine(lacks="Set the URL.")))
    assert "web_search" not in lacking.names()
    assert lacking.run("web_search", {"query": "x"}, context) == (
        "web_search cannot be used here. Set the URL."
    )
    assert "web_search" not in Registry.builtin().usable(Services()).names()
    assert "Nothing is there" in Registry.builtin().run("web_search", {"query": "x"}, context)
