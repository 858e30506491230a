"""Search engines on loopback: what they find is read, what they refuse is explained."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import NotFetched
from hermes.core.web import SearchResult
from hermes.fetching.search_answers import brave_results, searxng_results
from hermes.fetching.searching import missing_for_search, search
from hermes.settings.web import WebSettings
from tests.unit.fetching.sites import Answer, giving, redirecting, serving

FOUND = {
    "query": "q",
    "results": [
        {"title": "One <b>bold</b> &amp; more", "url": "https://one.example/", "content": "a\n b"},
        {"title": "No text", "url": "http://two.example/", "content": None},
        {"title": "Trap", "url": "javascript:alert(1)", "content": "x"},
        "nonsense",
    ],
}
ONE = SearchResult(title="One bold & more", url="https://one.example/", snippet="a b")
TWO = SearchResult(title="No text", url="http://two.example/", snippet="")


def answering(answer: Any) -> Answer:
    return giving(json.dumps(answer).encode(), "application/json")


def searxng(port: int, path: str = "", seconds: float = 5.0) -> WebSettings:
    url = f"http://127.0.0.1:{port}{path}"
    return WebSettings(search_url=url, timeout_seconds=seconds)


def brave(port: int) -> WebSettings:
    return WebSettings(
        search_backend="brave", search_key="brave-key", search_url=f"http://127.0.0.1:{port}"
    )


async def failure(settings: WebSettings) -> str:
    with pytest.raises(NotFetched) as caught:
        await search("words", 5, settings)
    return str(caught.value)


@pytest.mark.parametrize("path", ["", "/searx", "/search"])
async def test_searxng_is_asked_for_json_and_its_results_are_read(path: str) -> None:
    async with serving(answering(FOUND)) as site:
        found = await search("two words & a sign", 5, searxng(site.port, path))

        assert found == (ONE, TWO)
        [request] = site.requests
        assert request.path == {"/searx": "/searx/search"}.get(path, "/search")
        assert dict(request.query) == {"q": "two words & a sign", "format": "json"}


async def test_no_more_results_are_given_than_were_asked_for() -> None:
    async with serving(answering(FOUND)) as site:
        assert await search("words", 1, searxng(site.port)) == (ONE,)


async def test_brave_gets_the_key_in_its_header_and_its_results_are_read() -> None:
    entry = {"title": "One", "url": "https://one.example/", "description": "a <strong>b</strong>"}
    async with serving(answering({"web": {"results": [entry]}})) as site:
        found = await search("words", 50, brave(site.port))

        assert found == (SearchResult(title="One", url="https://one.example/", snippet="a b"),)
        [request] = site.requests
        assert request.path == "/res/v1/web/search"
        assert request.headers["X-Subscription-Token"] == "brave-key"
        assert request.query["count"] == "20"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (giving(b"<html>", "text/html"), "did not answer with JSON"),
        (giving(b"[" * 200_000, "application/json"), "did not answer with JSON"),
        (giving(b"", "text/html", status=403), "add `json` to search.formats"),
        (giving(b"", "text/html", status=429), "was asked too often"),
        (giving(b"", "text/html", status=502), "answered with status 502"),
        (redirecting("https://elsewhere.example/"), "answered with status 302"),
        (giving(b"x" * 5_000_001, "application/json"), "cannot be reached or broke off"),
    ],
)
async def test_what_searxng_refuses_is_explained(answer: Answer, reason: str) -> None:
    async with serving(answer) as site:
        said = await failure(searxng(site.port))

    assert said.startswith("The search engine at 127.0.0.1 ")
    assert reason in said


@pytest.mark.parametrize(
    ("status", "reason"), [(401, "check web.search_key_env"), (429, "the plan is used up")]
)
async def test_what_brave_refuses_is_explained_without_the_key(status: int, reason: str) -> None:
    async with serving(giving(b"brave-key", "text/html", status=status)) as site:
        said = await failure(brave(site.port))

    assert reason in said
    assert "brave-key" not in said


async def test_an_engine_that_does_not_answer_meets_the_clock() -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with serving(answer) as site:
        assert "within 0.2 seconds" in await failure(searxng(site.port, seconds=0.2))


async def test_an_engine_that_is_not_there_is_explained() -> None:
    async with serving(answering(FOUND)) as site:
        port = site.port
    assert "check web.search_url" in await failure(searxng(port))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (WebSettings(), "web.search_url"),
        (WebSettings(search_key="unused"), "web.search_url"),
        (WebSettings(search_backend="brave"), "web.search_key_env"),
    ],
)
def test_what_is_missing_is_named(settings: WebSettings, said: str) -> None:
    missing = missing_for_search(settings)
    assert missing is not None
    assert said in missing


def test_what_is_configured_lacks_nothing() -> None:
    assert missing_for_search(searxng(1)) is None
    assert missing_for_search(brave(1)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["web", "results", "title", "url", "content", "description"]), inner
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_of_an_engine_breaks_the_reading(answer: Any) -> None:
    for result in (*searxng_results(answer), *brave_results(answer)):
        assert result.url.startswith(("http://", "https://"))
        assert "\n" not in result.title + result.snippet
