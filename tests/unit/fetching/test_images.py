"""Images from a real server on loopback; and everything that must not be fetched, is not."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace

import pytest
from aiohttp import web

from hermes.core.errors import InvalidRequest
from hermes.fetching.addresses import is_public
from hermes.fetching.images import MOST_REDIRECTS, fetch_image
from hermes.fetching.rules import Rules, rules_from
from hermes.settings.model import FetchSettings
from tests.unit.fetching.sites import PNG, Answer, Names, giving, redirecting, serving
from tests.unit.fetching.test_addresses import CLOSED

OPEN = rules_from(FetchSettings(allow_http=True, allow_private=True, timeout_seconds=5))
STRICT = rules_from(FetchSettings(timeout_seconds=5))
PUBLIC = "93.184.215.14"


def first_hop_inside() -> Rules:
    """The first address is let through by hand, so that a server of ours can send us on."""
    first = iter([True])
    return replace(OPEN, admits=lambda address: next(first, False) or is_public(address))


async def refusal(url: str, rules: Rules = OPEN, names: Names | None = None) -> str:
    with pytest.raises(InvalidRequest) as caught:
        await fetch_image(url, rules, look_up=names or Names([]))
    assert caught.value.param == "image_url"
    return caught.value.code


# --- what is fetched ------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["image/png", "IMAGE/PNG"])
async def test_an_image_becomes_a_data_url(said: str) -> None:
    async with serving(giving(media_type=said)) as site:
        url = await fetch_image(site.url(), OPEN)

    assert url == "data:image/png;base64," + base64.b64encode(PNG).decode()


async def test_a_common_misspelling_of_jpeg_is_understood() -> None:
    async with serving(giving(b"\xff\xd8\xff\xe0", "image/jpg")) as site:
        assert (await fetch_image(site.url(), OPEN)).startswith("data:image/jpeg;base64,")


async def test_a_name_is_looked_up_once_and_the_connection_goes_to_that_address() -> None:
    """The second answer is what a hostile name server would give: nobody asks for it."""
    names = Names(["127.0.0.1"], ["127.0.0.99"])
    async with serving(giving()) as site:
        await fetch_image(site.url("images.example"), OPEN, look_up=names)

        assert names.asked == ["images.example"]
        assert [request.host for request in site.requests] == [f"images.example:{site.port}"]


async def test_a_request_brings_nothing_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/cat.png":
            headers = {"Location": "/there.png", "Set-Cookie": "name=value"}
            return web.Response(status=307, headers=headers)
        return await giving()(request)

    async with serving(answer) as site:
        await fetch_image(site.url(), OPEN)

        first, second = site.requests
        assert (first.path, second.path) == ("/cat.png", "/there.png")
        for request in (first, second):
            assert {"Cookie", "Authorization", "Referer"}.isdisjoint(request.headers)


async def test_tls_names_the_host_and_not_the_address() -> None:
    hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.set_result(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        code = await refusal(f"https://images.example:{port}/a.png", OPEN, Names(["127.0.0.1"]))

    assert code == "image_fetch_failed"
    assert b"images.example" in await hello


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [address for address in CLOSED if "%" not in address])
async def test_an_address_that_leads_inside_is_refused_as_it_stands(address: str) -> None:
    host = f"[{address}]" if ":" in address else address

    assert await refusal(f"https://{host}/a.png", STRICT) == "image_fetch_refused"


@pytest.mark.parametrize("address", CLOSED)
async def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    names = Names([address])

    assert await refusal("https://images.example/a.png", STRICT, names) == "image_fetch_refused"


async def test_one_wrong_address_among_good_ones_refuses_the_name() -> None:
    names = Names([PUBLIC, "10.0.0.1"])

    assert await refusal("https://images.example/a.png", STRICT, names) == "image_fetch_refused"


@pytest.mark.parametrize(
    "url",
    [
        "http://images.example/a.png",
        "ftp://images.example/a.png",
        "file:///etc/passwd",
        "https:///a.png",
        "https://user:secret@images.example/a.png",
        "https://user@images.example/a.png",
        "https://images.example:8443/a.png",
        "https://images.example:22/a.png",
        "https://images.example:99999/a.png",
        "https://\uff11\uff12\uff17.0.0.1/a.png",
    ],
)
async def test_a_url_that_must_not_be_asked_is_refused_before_anything_is_looked_up(
    url: str,
) -> None:
    names = Names([PUBLIC])

    assert await refusal(url, STRICT, names) == "image_fetch_refused"
    assert names.asked == []


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "127.0.0.1.", "localhost"])
async def test_other_spellings_of_this_machine_are_not_reached(host: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await fetch_image(f"https://{host}/a.png", STRICT)

    assert caught.value.code in ("image_fetch_refused", "image_fetch_failed")


@pytest.mark.parametrize(
    "place",
    [
        "https://127.0.0.1/a.png",
        "https://[::ffff:127.0.0.1]/a.png",
        "https://169.254.169.254/latest/meta-data",
        "ftp://images.example/a.png",
        "file:///etc/passwd",
        "//127.0.0.1/a.png",
    ],
)
async def test_a_redirect_is_judged_like_the_first_url(place: str) -> None:
    async with serving(redirecting(place)) as site:
        code = await refusal(site.url("images.example"), first_hop_inside(), Names(["127.0.0.1"]))

        assert len(site.requests) == 1
    assert code == "image_fetch_refused"


async def test_a_name_whose_address_changes_between_hops_is_refused() -> None:
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    async with serving(redirecting("https://images.example/again.png")) as site:
        code = await refusal(site.url("images.example"), first_hop_inside(), names)

    assert names.asked == ["images.example", "images.example"]
    assert code == "image_fetch_refused"


async def test_endless_redirects_end() -> None:
    async with serving(redirecting("/again")) as site:
        assert await refusal(site.url()) == "image_fetch_refused"
        assert len(site.requests) == 1 + MOST_REDIRECTS


# --- what fails -----------------------------------------------------------------------------------


async def test_an_image_is_measured_as_it_arrives_and_not_by_what_was_announced() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "image/png"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for _ in range(1000):
            await response.write(PNG * 100)
        return response

    async with serving(answer) as site:
        small = replace(OPEN, max_bytes=20_000)
        assert await refusal(site.url(), small) == "image_too_large"


async def test_an_image_of_exactly_the_limit_is_fetched() -> None:
    exact = replace(OPEN, max_bytes=len(PNG))
    async with serving(giving()) as site:
        assert await fetch_image(site.url(), exact)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (giving(status=404), "image_fetch_failed"),
        (giving(status=304), "image_fetch_failed"),
        (giving(b"<html>", "text/html"), "invalid_image"),
        (giving(b"<svg/>", "image/svg+xml"), "invalid_image"),
        (giving(b"<html>", "image/png"), "invalid_image"),
        (giving(PNG, "image/gif"), "invalid_image"),
        (giving(PNG, "application/octet-stream"), "invalid_image"),
        (giving(b"", "image/png"), "invalid_image"),
        (giving(headers={"Content-Encoding": "gzip"}), "image_fetch_failed"),
    ],
)
async def test_what_is_no_image_is_refused(answer: Answer, code: str) -> None:
    async with serving(answer) as site:
        assert await refusal(site.url()) == code


async def test_a_server_that_takes_its_time_is_given_up() -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    hasty = replace(OPEN, seconds=0.1)
    async with serving(answer) as site:
        assert await refusal(site.url(), hasty) == "image_fetch_failed"


async def test_a_host_that_nobody_serves_is_an_error_without_details() -> None:
    with pytest.raises(InvalidRequest) as caught:
        await fetch_image(
            "http://images.example:9/a?token=secret", OPEN, look_up=Names(["127.0.0.1"])
        )

    assert caught.value.code == "image_fetch_failed"
    assert "127.0.0.1" not in caught.value.message
    assert "secret" not in caught.value.message


async def test_a_name_that_nobody_knows_is_an_error() -> None:
    assert await refusal("https://images.example/a.png", STRICT, Names([])) == "image_fetch_failed"
