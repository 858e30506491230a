"""Downloads a page that the agent named by its URL, without becoming its way inside.

Every hop is checked before it is made; what cannot be read is not even downloaded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import aiohttp

from hermes.core.errors import NotFetched
from hermes.core.web import PageKind, page_kind
from hermes.fetching.following import Unreachable, follow, open_session
from hermes.fetching.resolving import LookUp, look_up
from hermes.fetching.rules import Refused, Rules
from hermes.fetching.unpacking import TooLarge, Unpacker

MOST_REDIRECTS = 5

_HEADERS = {
    "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Accept-Language": "en, *;q=0.5",
    "User-Agent": "Mozilla/5.0 (compatible; hermes-gateway)",
}
_ADVICE = {
    401: "it wants a login, which this tool does not have",
    403: "it refuses programs, or wants a login",
    404: "there is no such page; check the URL or search for it",
    410: "the page is gone",
    429: "it was asked too often; wait a while or use another source",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A page as it arrived, unpacked."""

    url: str
    media_type: str
    """In lower case; empty when the server did not say."""
    kind: PageKind
    charset: str | None
    data: bytes


async def download(url: str, rules: Rules, *, look_up: LookUp = look_up) -> Download:
    """Raises `NotFetched` saying why there is nothing."""

    async def take(response: aiohttp.ClientResponse) -> Download:
        return await _taken(response, rules.max_bytes)

    try:
        async with (
            asyncio.timeout(rules.seconds),
            open_session(rules, look_up, _HEADERS) as http,
        ):
            _, found = await follow(http, url, rules, take, MOST_REDIRECTS)
    except TimeoutError:
        reason = f"It did not arrive within {rules.seconds:g} seconds"
        raise NotFetched(f"{reason} (the operator's setting is web.timeout_seconds).") from None
    except Refused as error:
        raise NotFetched(f"The URL is not fetched: {error}.") from None
    except Unreachable as error:
        raise NotFetched(f"{error}. Check the URL, or use another source.") from None
    return found


async def _taken(response: aiohttp.ClientResponse, most: int) -> Download:
    if response.status != 200:
        reason = _ADVICE.get(response.status, "try another source, or later")
        raise NotFetched(f"{response.url.host} answered with status {response.status}: {reason}.")
    # What aiohttp says where nothing was said is a guess.
    said = "Content-Type" in response.headers
    media_type = response.content_type.lower() if said else ""
    kind = page_kind(media_type)
    if kind is None:
        raise NotFetched(
            f"The URL leads to {media_type[:100]} ({_size(response)}), which has no text to read. "
            "Download it with a command if you need the file itself."
        )
    return Download(
        url=str(response.url),
        media_type=media_type,
        kind=kind,
        charset=response.charset,
        data=await _body(response, most),
    )


async def _body(response: aiohttp.ClientResponse, most: int) -> bytes:
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    try:
        if (response.content_length or 0) > most:
            raise TooLarge
        unpacker = Unpacker(encoding, most)
        async for piece in response.content.iter_any():
            unpacker.add(piece)
        return unpacker.finish()
    except TooLarge:
        raise NotFetched(
            f"The page is larger than {most:,} bytes ({_size(response)}; the operator's setting is "
            "web.max_bytes). Download it with a command, or find a smaller one."
        ) from None
    except ValueError:
        packed = f"{response.url.host} sent it packed as {encoding[:40]!r}"
        raise NotFetched(f"{packed}, and that cannot be unpacked. Use another source.") from None


def _size(response: aiohttp.ClientResponse) -> str:
    length = response.content_length
    return "of unknown size" if length is None else f"{length:,} bytes sent"
