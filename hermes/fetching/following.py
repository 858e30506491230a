"""Asks for a URL and goes where it leads, with the rules checked before every step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import aiohttp
from yarl import URL

from hermes.core.errors import HermesError
from hermes.fetching.resolving import AddressRefused, CheckedResolver, LookUp
from hermes.fetching.rules import Refused, Rules, address_refused

_REDIRECTS = (301, 302, 303, 307, 308)

Taken = TypeVar("Taken")
Take = Callable[[aiohttp.ClientResponse], Awaitable[Taken]]
"""Makes something of an answer that is no redirect."""


class Unreachable(HermesError):
    """A host did not answer, or broke off. Why is not said: it may tell who listens where."""


def open_session(
    rules: Rules, look_up: LookUp, headers: Mapping[str, str]
) -> aiohttp.ClientSession:
    """A session that brings nothing along and keeps nothing: no cookies, no proxy, no netrc."""
    resolver = CheckedResolver(look_up, rules.admits)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=None),
    )


async def follow(
    http: aiohttp.ClientSession, url: str, rules: Rules, take: Take[Taken], most: int
) -> tuple[URL, Taken]:
    """Where it was found, and what `take` made of it; at most `most` redirects are followed."""
    at = _parsed(url)
    for _ in range(1 + most):
        rules.check(at)
        found = await _one_hop(http, at, take)
        if not isinstance(found, URL):
            return at, found
        at = found
    raise Refused(f"it is redirected more than {most} times")


async def _one_hop(http: aiohttp.ClientSession, url: URL, take: Take[Taken]) -> URL | Taken:
    """What was taken, or where it is said to be."""
    try:
        async with http.get(url, allow_redirects=False) as response:
            if response.status in _REDIRECTS and "Location" in response.headers:
                return url.join(_parsed(response.headers["Location"]))
            return await take(response)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if isinstance(error.__cause__, AddressRefused):
            raise address_refused(url) from None
        raise Unreachable(f"{url.host} cannot be reached or broke off") from None


def _parsed(url: str) -> URL:
    try:
        return URL(url)
    except ValueError:
        raise Refused("its URL cannot be read") from None
