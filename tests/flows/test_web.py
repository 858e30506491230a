"""The agent searches the web and reads a page, over real sockets; it does not reach inside."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

from hermes.settings.model import FetchSettings
from hermes.settings.web import WebSettings
from hermes.testing.replies import Text, ToolUse
from tests.flows.conftest import Flow, StartFlow
from tests.unit.fetching.sites import giving, serving

WORDS = "The bridge was opened in the year 1907, after a long debate about its colour. " * 4
ARTICLE = (
    f"<html><head><title>The bridge</title></head><body><article><p>{WORDS}</p></article></body>"
)


async def answer(request: web.Request) -> web.StreamResponse:
    """A SearXNG at /search, and the page that it finds."""
    if request.path == "/search":
        url = f"http://127.0.0.1:{request.url.port}/bridge"
        found = {"results": [{"title": "The bridge", "url": url, "content": "About a bridge."}]}
        return web.json_response(found)
    return await giving(ARTICLE.encode(), "text/html")(request)


async def chat(served: Flow) -> str:
    answered = await served.sdk.chat.completions.create(
        model="hermes-agent", messages=[{"role": "user", "content": "When was it opened?"}]
    )
    return answered.choices[0].message.content or ""


def results_of(served: Flow) -> list[str]:
    """What the tools said, as the model read it last."""
    return [each["content"] for each in served.requests[-1].messages if each["role"] == "tool"]


async def test_the_agent_searches_and_reads_what_it_found(flow: StartFlow) -> None:
    async with serving(answer) as site:
        page = site.url(path="/bridge")
        served = await flow(
            [
                ToolUse("web_search", {"query": "bridge opened"}),
                ToolUse("web_fetch", {"url": page}),
                Text("In 1907."),
            ],
            fetch=FetchSettings(allow_private=True),
            web_settings=WebSettings(search_url=f"http://127.0.0.1:{site.port}"),
        )
        assert await chat(served) == "In 1907."
        found, read = results_of(served)
        assert page in found
        assert f"URL: {page}\nTitle: The bridge\nType: text/html, " in read
        assert "opened in the year 1907" in read
        assert [request.path for request in site.requests] == ["/search", "/bridge"]


async def test_by_default_the_agent_does_not_reach_inside(flow: StartFlow) -> None:
    async with serving(answer) as site:
        served = await flow([ToolUse("web_fetch", {"url": site.url()}), Text("No.")])
        assert await chat(served) == "No."
        assert site.requests == []
    assert "only the ports 80 and 443 are asked" in results_of(served)[0]


async def test_a_client_that_leaves_ends_the_fetching(flow: StartFlow) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def endless(_: web.Request) -> web.StreamResponse:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        raise AssertionError

    async with serving(endless) as site:
        served = await flow(
            [ToolUse("web_fetch", {"url": site.url()}), Text("Too late.")],
            fetch=FetchSettings(allow_private=True),
        )
        asking = asyncio.create_task(chat(served))
        await asyncio.wait_for(asked.wait(), 10)
        asking.cancel()
        await asyncio.wait_for(gone.wait(), 5)


async def listed(served: Flow, name: str) -> dict[str, Any]:
    _, answered = await served.answer("GET", "/v1/toolsets")
    [toolset] = [each for each in answered["data"] if each["id"] == "web"]
    [tool] = [each for each in toolset["tools"] if each["name"] == name]
    return dict(tool)


async def test_without_an_engine_searching_is_listed_with_what_is_missing(flow: StartFlow) -> None:
    served = await flow([Text("Hi.")])
    await chat(served)
    offered = {tool["function"]["name"] for tool in served.requests[0].body["tools"]}
    assert "web_fetch" in offered
    assert "web_search" not in offered
    tool = await listed(served, "web_search")
    assert tool["available"] is False
    assert "web.search_url" in tool["missing"]
    assert (await listed(served, "web_fetch"))["available"] is True


async def test_a_key_of_the_engine_is_seen_by_nobody_else(flow: StartFlow) -> None:
    """A search engine that repeats the key it was given does not bring it to the model."""

    async def refusing(request: web.Request) -> web.StreamResponse:
        return web.Response(status=401, text=json.dumps(dict(request.headers)))

    async with serving(refusing) as site:
        served = await flow(
            [ToolUse("web_search", {"query": "x"}), Text("No.")],
            web_settings=WebSettings(
                search_backend="brave",
                search_key="brave-key-1",
                search_url=f"http://127.0.0.1:{site.port}",
            ),
        )
        await chat(served)
        assert site.requests[0].headers["X-Subscription-Token"] == "brave-key-1"
    assert "brave-key-1" not in json.dumps(served.requests[-1].body)
    assert "check web.search_key_env" in results_of(served)[0]
