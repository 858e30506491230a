"""Pages from a real server on loopback; and everything that must not be fetched, is not."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from dataclasses import replace

import pytest
from aiohttp import web

from hermes.core.errors import NotFetched
from hermes.core.web import PageKind
from hermes.fetching.addresses import is_public
from hermes.fetching.pages import MOST_REDIRECTS, Download, download
from hermes.fetching.rules import Rules, page_rules
from hermes.settings.model import FetchSettings
from hermes.settings.web import WebSettings
from tests.unit.fetching.sites import PNG, Answer, Names, giving, redirecting, serving
from tests.unit.fetching.test_addresses import CLOSED

WEB = WebSettings(timeout_seconds=5, max_bytes=20_000)
OPEN = page_rules(FetchSettings(allow_private=True), WEB)
STRICT = page_rules(FetchSettings(), WEB)
HTML = b"<html><body>Hello</body></html>"


async def refusal(url: str, rules: Rules = OPEN, names: Names | None = None) -> str:
    with pytest.raises(NotFetched) as caught:
        await download(url, rules, look_up=names or Names([]))
    return str(caught.value)


def first_hop_inside() -> Rules:
    """The first address is let through by hand, so that a server of ours can send us on."""
    first = iter([True])
    return replace(OPEN, admits=lambda address: next(first, False) or is_public(address))


# --- what is fetched ------------------------------------------------------------------------------


async def test_a_page_comes_with_its_type_and_where_it_was_found() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/old":
            return web.Response(status=301, headers={"Location": "/new?a=1"})
        headers = {"Content-Type": "Text/HTML; charset=Latin-1"}
        return web.Response(body=HTML, headers=headers)

    async with serving(answer) as site:
        found = await download(site.url(path="/old"), OPEN)

        assert found == Download(
            url=site.url(path="/new?a=1"),
            media_type="text/html",
            kind=PageKind.HTML,
            charset="Latin-1",
            data=HTML,
        )
        for request in site.requests:
            assert {"Cookie", "Authorization", "Referer"}.isdisjoint(request.headers)


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("text/plain", PageKind.TEXT),
        ("application/json", PageKind.TEXT),
        ("application/atom+xml", PageKind.TEXT),
        ("application/pdf", PageKind.PDF),
        ("application/octet-stream", PageKind.UNSAID),
    ],
)
async def test_what_can_be_read_is_fetched(media_type: str, kind: PageKind) -> None:
    async with serving(giving(b"{}", media_type)) as site:
        assert (await download(site.url(), OPEN)).kind is kind


async def test_a_server_that_does_not_say_a_type_is_not_believed_to_have_said_one() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        found = await download(f"http://127.0.0.1:{port}/", OPEN)

    assert (found.media_type, found.kind, found.data) == ("", PageKind.UNSAID, b"hi")


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(HTML, mtime=0)),
        ("gzip", gzip.compress(HTML[:5], mtime=0) + gzip.compress(HTML[5:], mtime=0)),
        ("deflate", zlib.compress(HTML)),
        ("deflate", zlib.compress(HTML)[2:-4]),
        ("identity", HTML),
    ],
)
async def test_what_is_packed_is_unpacked(encoding: str, packed: bytes) -> None:
    headers = {"Content-Encoding": encoding}
    async with serving(giving(packed, "text/html", headers=headers)) as site:
        assert (await download(site.url(), OPEN)).data == HTML


async def test_a_name_is_looked_up_once_and_the_connection_goes_to_that_address() -> None:
    names = Names(["127.0.0.1"], ["127.0.0.99"])
    async with serving(giving(HTML, "text/html")) as site:
        await download(site.url("pages.example"), OPEN, look_up=names)

    assert names.asked == ["pages.example"]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [address for address in CLOSED if "%" not in address])
async def test_an_address_that_leads_inside_is_refused_as_it_stands(address: str) -> None:
    host = f"[{address}]" if ":" in address else address

    assert "not on the public internet" in await refusal(f"http://{host}/", STRICT)


@pytest.mark.parametrize("address", CLOSED)
async def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    said = await refusal("https://pages.example/", STRICT, Names([address]))

    assert "pages.example is not on the public internet" in said
    assert "fetch.allow_private" in said


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "017700000001", "localhost"])
async def test_other_spellings_of_this_machine_are_not_reached(host: str) -> None:
    with pytest.raises(NotFetched):
        await download(f"http://{host}/", STRICT)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://pages.example/", "only https and http URLs"),
        ("file:///etc/passwd", "only https and http URLs"),
        ("pages.example/without-scheme", "only https and http URLs"),
        ("https://user:secret@pages.example/", "user name or password"),
        ("https://pages.example:22/", "only the ports 80 and 443"),
        ("https:///path", "names no host"),
        ("http://[bad", "cannot be read"),
    ],
)
async def test_a_url_that_must_not_be_asked_is_refused_before_anything_is_looked_up(
    url: str, reason: str
) -> None:
    names = Names(["93.184.215.14"])
    said = await refusal(url, STRICT, names)

    assert reason in said
    assert "secret" not in said
    assert names.asked == []


async def test_plain_http_can_be_forbidden() -> None:
    rules = page_rules(FetchSettings(), replace(WEB, allow_http=False))

    assert "only https URLs" in await refusal("http://pages.example/", rules)


@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "//127.0.0.1/",
    ],
)
async def test_a_redirect_is_judged_like_the_first_url(place: str) -> None:
    async with serving(redirecting(place)) as site:
        said = await refusal(site.url("pages.example"), first_hop_inside(), Names(["127.0.0.1"]))

        assert len(site.requests) == 1
    assert "not fetched" in said


async def test_a_name_whose_address_changes_between_hops_is_refused() -> None:
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    async with serving(redirecting("http://pages.example:80/again")) as site:
        said = await refusal(site.url("pages.example"), first_hop_inside(), names)

    assert names.asked == ["pages.example", "pages.example"]
    assert "not on the public internet" in said


async def test_endless_redirects_end() -> None:
    async with serving(redirecting("/again")) as site:
        assert "redirected more than" in await refusal(site.url())

        assert len(site.requests) == 1 + MOST_REDIRECTS


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (giving(PNG, "image/png"), "leads to image/png (108 bytes sent), which has no text"),
        (giving(b"PK", "application/zip"), "application/zip (2 bytes sent)"),
        (giving(HTML, "text/html", status=404), "status 404: there is no such page"),
        (giving(HTML, "text/html", status=429), "status 429: it was asked too often"),
        (giving(HTML, "text/html", status=500), "status 500: try another source"),
        (giving(HTML, "text/html", headers={"Content-Encoding": "br"}), "packed as 'br'"),
        (giving(HTML, "text/html", headers={"Content-Encoding": "gzip"}), "cannot be unpacked"),
        (
            giving(
                gzip.compress(HTML, mtime=0)[:-9], "text/html", headers={"Content-Encoding": "gzip"}
            ),
            "cannot be unpacked",
        ),
        (giving(b"x" * 20_001, "text/plain"), "larger than 20,000 bytes (20,001 bytes sent"),
        (
            giving(
                gzip.compress(bytes(50_000_000)),
                "text/plain",
                headers={"Content-Encoding": "gzip"},
            ),
            "larger than 20,000 bytes",
        ),
    ],
)
async def test_what_cannot_be_used_is_refused_with_a_reason(answer: Answer, reason: str) -> None:
    async with serving(answer) as site:
        assert reason in await refusal(site.url())


async def test_a_page_without_end_is_cut_off() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 10_000)

    async with serving(answer) as site:
        assert "larger than 20,000 bytes (of unknown size" in await refusal(site.url())


async def test_a_page_that_never_comes_meets_the_clock() -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with serving(answer) as site:
        said = await refusal(site.url(), replace(OPEN, seconds=0.2))

    assert said.startswith("It did not arrive within 0.2 seconds")


async def test_a_host_that_does_not_answer_is_named_without_details() -> None:
    async with serving(giving(HTML, "text/html")) as site:
        port = site.port
    said = await refusal(f"http://127.0.0.1:{port}/")

    assert said == "127.0.0.1 cannot be reached or broke off. Check the URL, or use another source."
