"""Asks a search engine on the operator's behalf: SearXNG or Brave.

The engine is the operator's choice, so it may be anywhere, also on this machine.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import aiohttp
from yarl import URL

from hermes.core.errors import NotFetched
from hermes.core.web import SearchResult
from hermes.fetching.search_answers import brave_results, searxng_results
from hermes.settings.web import WebSettings

_LARGEST = 5_000_000
_BRAVE = "https://api.search.brave.com"
_MOST_OF_BRAVE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One request to an engine, and how its answer is read."""

    url: URL
    headers: Mapping[str, str]
    read: Callable[[Any], tuple[SearchResult, ...]]
    refusals: Mapping[int, str]
    """What a status means, in words for the operator."""


def missing_for_search(settings: WebSettings) -> str | None:
    """What has to be configured before anything can be searched; None: nothing."""
    match settings.search_backend:
        case "searxng" if not settings.search_url:
            return (
                "Nobody is configured who searches. Set web.search_url in config.yaml to a SearXNG "
                "server, or web.search_backend to brave with a key in web.search_key_env."
            )
        case "brave" if not settings.search_key:
            return "Brave Search needs a key. Set web.search_key_env in config.yaml."
        case _:
            return None


async def search(query: str, most: int, settings: WebSettings) -> tuple[SearchResult, ...]:
    """At most `most` results; raises `NotFetched` saying why there are none to be had."""
    question = _question(query, most, settings)
    try:
        async with (
            asyncio.timeout(settings.timeout_seconds),
            _session(question) as http,
            # A redirect would take the key along, to wherever it leads.
            http.get(question.url, allow_redirects=False) as response,
        ):
            answer = _answer(response, await _body(response), question)
    except TimeoutError:
        reason = f"did not answer within {settings.timeout_seconds:g} seconds"
        raise _failed(question, f"{reason}; try again, or with a simpler query") from None
    except (aiohttp.ClientError, OSError, ValueError):
        reason = "cannot be reached or broke off; tell the user to check web.search_url"
        raise _failed(question, reason) from None
    return question.read(answer)[:most]


def _question(query: str, most: int, settings: WebSettings) -> _Question:
    match settings.search_backend:
        case "searxng":
            return _ask_searxng(query, settings)
        case "brave":
            return _ask_brave(query, most, settings)
        case _:
            assert_never(settings.search_backend)


def _ask_searxng(query: str, settings: WebSettings) -> _Question:
    place = URL(settings.search_url)
    place = place if place.name == "search" else place / "search"
    return _Question(
        url=place.with_query(q=query, format="json"),
        headers={},
        read=searxng_results,
        refusals={
            403: "refuses JSON; tell the user to add `json` to search.formats in its settings.yml",
            429: "was asked too often; wait a while (its limiter may have to let the gateway pass)",
        },
    )


def _ask_brave(query: str, most: int, settings: WebSettings) -> _Question:
    place = URL(settings.search_url or _BRAVE) / "res/v1/web/search"
    wrong_key = "refuses the key; tell the user to check web.search_key_env"
    return _Question(
        url=place.with_query(q=query, count=min(most, _MOST_OF_BRAVE), text_decorations="false"),
        headers={"X-Subscription-Token": settings.search_key},
        read=brave_results,
        refusals={
            401: wrong_key,
            403: wrong_key,
            422: "refuses the query or the key; try a shorter query",
            429: "was asked too often, or the plan is used up; wait a while",
        },
    )


def _session(question: _Question) -> aiohttp.ClientSession:
    """Through the proxy of the environment, like requests to a model's provider."""
    return aiohttp.ClientSession(
        trust_env=True,
        headers={"Accept": "application/json", "User-Agent": "hermes-gateway", **question.headers},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
    )


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _LARGEST:
            raise ValueError("larger than any answer of an engine")
    return bytes(body)


def _answer(response: aiohttp.ClientResponse, body: bytes, question: _Question) -> Any:
    if response.status in question.refusals:
        raise _failed(question, question.refusals[response.status])
    if response.status != 200:
        reason = f"answered with status {response.status}; try again later"
        raise _failed(question, reason)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        reason = (
            "did not answer with JSON; tell the user to check web.search_url, and that `json` is "
            "in search.formats of SearXNG's settings.yml"
        )
        raise _failed(question, reason) from None


def _failed(question: _Question, reason: str) -> NotFetched:
    return NotFetched(f"The search engine at {question.url.host} {reason}.")
