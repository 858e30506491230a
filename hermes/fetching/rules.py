"""What may be asked of whom: the operator's settings as rules that hold for every hop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from yarl import URL

from hermes.core.errors import InvalidRequest
from hermes.fetching.addresses import Address, is_public, literal
from hermes.settings.model import FetchSettings

PARAM = "image_url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may be fetched, and how much of it."""

    schemes: tuple[str, ...]
    ports: tuple[int, ...]
    """Empty for any."""
    admits: Callable[[Address], bool]
    max_bytes: int
    seconds: float

    def check(self, url: URL) -> None:
        """Refuse what must not even be asked for. Names are judged when they are looked up."""
        if url.scheme not in self.schemes:
            raise refused("only https URLs are fetched here; send the image itself as a data: URL")
        if not url.raw_host:
            raise refused("the URL names no host")
        if url.user is not None or url.password is not None:
            raise refused("the URL must not contain a user name or password")
        if self.ports and url.port not in self.ports:
            raise refused("only the ports 80 and 443 are asked")
        address = literal(url.raw_host)
        if address is not None and not self.admits(address):
            raise address_refused(url)


def rules_from(settings: FetchSettings) -> Rules:
    return Rules(
        schemes=("https", "http") if settings.allow_http else ("https",),
        ports=() if settings.allow_private else (80, 443),
        admits=(lambda _address: True) if settings.allow_private else is_public,
        max_bytes=settings.max_bytes,
        seconds=settings.timeout_seconds,
    )


def address_refused(url: URL) -> InvalidRequest:
    return refused(
        f"{url.host} is not on the public internet (the operator may allow that with "
        "fetch.allow_private); send the image itself as a data: URL"
    )


def refused(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"The image is not fetched: {reason}.", code="image_fetch_refused", param=PARAM
    )
