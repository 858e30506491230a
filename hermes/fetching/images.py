"""Fetches an image that a client named by its URL, without becoming the client's way inside.

Every hop is checked before it is made; size and type are judged by the bytes that arrive.
"""

from __future__ import annotations

import asyncio

import aiohttp
from yarl import URL

from hermes.core.errors import InvalidRequest
from hermes.core.images import IMAGE_TYPES, data_url, image_type_of
from hermes.fetching.resolving import AddressRefused, CheckedResolver, LookUp, look_up
from hermes.fetching.rules import PARAM, Rules, address_refused, refused

MOST_REDIRECTS = 3

_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {
    "Accept": ", ".join(IMAGE_TYPES),
    # Packed bytes could unpack to any size.
    "Accept-Encoding": "identity",
    "User-Agent": "hermes-gateway",
}
_ALIASES = {"image/jpg": "image/jpeg"}


async def fetch_image(url: str, rules: Rules, *, look_up: LookUp = look_up) -> str:
    """The image as a data URL; raises `InvalidRequest` saying why there is none."""
    try:
        async with asyncio.timeout(rules.seconds), _session(rules, look_up) as http:
            media_type, data = await _follow(http, _parsed(url), rules)
    except TimeoutError:
        reason = f"The image did not arrive within {rules.seconds:g} seconds"
        raise _failed(reason) from None
    return data_url(media_type, data)


def _session(rules: Rules, look_up: LookUp) -> aiohttp.ClientSession:
    """A session that brings nothing along and keeps nothing: no cookies, no proxy, no netrc."""
    resolver = CheckedResolver(look_up, rules.admits)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
    )


async def _follow(http: aiohttp.ClientSession, url: URL, rules: Rules) -> tuple[str, bytes]:
    for _ in range(1 + MOST_REDIRECTS):
        rules.check(url)
        found = await _one_hop(http, url, rules)
        if not isinstance(found, URL):
            return found
        url = found
    raise refused(f"it is redirected more than {MOST_REDIRECTS} times")


async def _one_hop(http: aiohttp.ClientSession, url: URL, rules: Rules) -> URL | tuple[str, bytes]:
    """The image, or where it is said to be."""
    try:
        async with http.get(url, allow_redirects=False) as response:
            if response.status in _REDIRECTS and "Location" in response.headers:
                return url.join(_parsed(response.headers["Location"]))
            if response.status != 200:
                raise _failed(f"{url.host} answered with status {response.status}")
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise _failed(f"{url.host} sent it compressed")
            media_type = _media_type(response.content_type)
            return media_type, _genuine(await _read(response, rules.max_bytes), media_type)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if isinstance(error.__cause__, AddressRefused):
            raise address_refused(url) from None
        # Without the details: they may tell who listens where.
        raise _failed(f"{url.host} cannot be reached or broke off") from None


def _parsed(url: str) -> URL:
    try:
        return URL(url)
    except ValueError:
        raise refused("its URL cannot be read") from None


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > most:
            raise InvalidRequest(
                f"The image is larger than {most} bytes; send a smaller one (the operator's "
                "setting is fetch.max_bytes).",
                code="image_too_large",
                param=PARAM,
            )
    return bytes(data)


def _media_type(said: str) -> str:
    media_type = _ALIASES.get(said.lower(), said.lower())
    if media_type not in IMAGE_TYPES:
        raise _invalid(f"its type is '{said[:60]}'")
    return media_type


def _genuine(data: bytes, media_type: str) -> bytes:
    if image_type_of(data) != media_type:
        raise _invalid(f"what arrived is not {media_type}")
    return data


def _invalid(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"The URL does not lead to an image that can be used: {reason}. "
        "Use PNG, JPEG, GIF or WebP.",
        code="invalid_image",
        param=PARAM,
    )


def _failed(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"{reason}. Check the URL, or send the image itself as a data: URL.",
        code="image_fetch_failed",
        param=PARAM,
    )
