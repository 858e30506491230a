"""Fetches an image that a client named by its URL, without becoming the client's way inside.

Every hop is checked before it is made; size and type are judged by the bytes that arrive.
"""

from __future__ import annotations

import asyncio

import aiohttp

from hermes.core.errors import InvalidRequest
from hermes.core.images import IMAGE_TYPES, data_url, image_type_of
from hermes.fetching.following import Unreachable, follow, open_session
from hermes.fetching.resolving import LookUp, look_up
from hermes.fetching.rules import Refused, Rules

MOST_REDIRECTS = 3
PARAM = "image_url"

_HEADERS = {
    "Accept": ", ".join(IMAGE_TYPES),
    # Packed bytes could unpack to any size.
    "Accept-Encoding": "identity",
    "User-Agent": "hermes-gateway",
}
_ALIASES = {"image/jpg": "image/jpeg"}


async def fetch_image(url: str, rules: Rules, *, look_up: LookUp = look_up) -> str:
    """The image as a data URL; raises `InvalidRequest` saying why there is none."""

    async def take(response: aiohttp.ClientResponse) -> str:
        return await _image(response, rules.max_bytes)

    try:
        async with (
            asyncio.timeout(rules.seconds),
            open_session(rules, look_up, _HEADERS) as http,
        ):
            _, image = await follow(http, url, rules, take, MOST_REDIRECTS)
    except TimeoutError:
        reason = f"The image did not arrive within {rules.seconds:g} seconds"
        raise _failed(reason) from None
    except Refused as error:
        raise _refused(str(error)) from None
    except Unreachable as error:
        raise _failed(str(error)) from None
    return image


async def _image(response: aiohttp.ClientResponse, most: int) -> str:
    if response.status != 200:
        raise _failed(f"{response.url.host} answered with status {response.status}")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _failed(f"{response.url.host} sent it compressed")
    media_type = _media_type(response.content_type)
    return data_url(media_type, _genuine(await _read(response, most), media_type))


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


def _refused(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"The image is not fetched: {reason}. Send the image itself as a data: URL.",
        code="image_fetch_refused",
        param=PARAM,
    )
