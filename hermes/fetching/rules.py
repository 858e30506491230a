"""What may be asked of whom: the operator's settings as rules that hold for every hop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from yarl import URL

from hermes.core.errors import HermesError
from hermes.fetching.addresses import Address, is_public, literal
from hermes.settings.model import FetchSettings
from hermes.settings.web import WebSettings


class Refused(HermesError):
    """This must not be asked for; the text says why, in words that follow "it is not fetched"."""


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
            raise Refused(f"only {' and '.join(self.schemes)} URLs are fetched here")
        if not url.raw_host:
            raise Refused("the URL names no host")
        if url.user is not None or url.password is not None:
            raise Refused("the URL must not contain a user name or password")
        if self.ports and url.port not in self.ports:
            raise Refused("only the ports 80 and 443 are asked")
        address = literal(url.raw_host)
        if address is not None and not self.admits(address):
            raise address_refused(url)


def rules_from(settings: FetchSettings) -> Rules:
    return _rules(settings, settings.allow_http, settings.max_bytes, settings.timeout_seconds)


def page_rules(settings: FetchSettings, web: WebSettings) -> Rules:
    return _rules(settings, web.allow_http, web.max_bytes, web.timeout_seconds)


def _rules(settings: FetchSettings, allow_http: bool, max_bytes: int, seconds: float) -> Rules:
    return Rules(
        schemes=("https", "http") if allow_http else ("https",),
        ports=() if settings.allow_private else (80, 443),
        admits=(lambda _address: True) if settings.allow_private else is_public,
        max_bytes=max_bytes,
        seconds=seconds,
    )


def address_refused(url: URL) -> Refused:
    return Refused(
        f"{url.host} is not on the public internet (the operator may allow that with "
        "fetch.allow_private)"
    )
