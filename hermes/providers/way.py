"""How calls get to a provider: worked out once per address, used by every call to it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import yarl

from hermes.core.errors import SettingsError
from hermes.providers.endpoint import Endpoint, headers_for, url_for
from hermes.providers.proxies import proxy_for


class Origin(NamedTuple):
    """What a connection leads to; calls to the same origin share connections."""

    host: str
    port: int
    is_tls: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What all calls to one address have in common."""

    host: str
    """The provider's name in errors."""
    origin: Origin
    url: yarl.URL = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    head: bytes = field(repr=False)
    """Request line and headers, up to the length of the body."""
    secrets: tuple[str, ...] = field(repr=False)
    proxy: str | None = field(repr=False)
    connect_timeout: float


def way_to(endpoint: Endpoint, path: str, extra_headers: Mapping[str, str] | None = None) -> Way:
    url = url_for(endpoint, path)
    headers = {**headers_for(endpoint), **(extra_headers or {})}
    if url.user is not None:
        headers.setdefault("Authorization", _basic(url.user, url.password or ""))
    bare = url.with_user(None)
    return Way(
        host=endpoint.host,
        origin=Origin(url.host or "", url.port or 0, url.scheme == "https"),
        url=bare,
        headers=headers,
        head=_head(bare, headers),
        secrets=endpoint.secrets(),
        proxy=proxy_for(bare),
        connect_timeout=endpoint.connect_timeout,
    )


def _head(url: yarl.URL, headers: Mapping[str, str]) -> bytes:
    lines = [f"POST {url.raw_path_qs} HTTP/1.1", f"Host: {url.host_port_subcomponent}"]
    for name, value in headers.items():
        if not _is_one_line(name) or not _is_one_line(value):
            raise SettingsError("headers", f"{name!r}", "names and values without line breaks")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "Content-Length: "]).encode()


def _is_one_line(text: str) -> bool:
    return not any(control in text for control in "\r\n\0")


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
