"""One HTTP request to a provider: opening it, reading it whole, and naming what went wrong."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import yarl

from hermes.core.errors import ConnectionLost, ProviderError
from hermes.providers.fields import parse_json
from hermes.providers.refusals import error_from_event, refusal_from_answer
from hermes.providers.stall_watch import StallWatch

LARGEST_ANSWER = 64 * 1024 * 1024
LARGEST_ERROR = 64 * 1024
_LARGE_BODY = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What all calls to one address have in common."""

    host: str
    url: yarl.URL = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    proxy: str | None = field(repr=False)
    timeout: aiohttp.ClientTimeout


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """Everything a request needs, worked out before the loop is troubled with it."""

    way: Way
    body: bytes = field(repr=False)
    patience: float
    """Seconds without a single byte after which the provider counts as stalled."""

    @property
    def host(self) -> str:
        return self.way.host


@asynccontextmanager
async def opened(
    session: aiohttp.ClientSession, call: HttpCall
) -> AsyncIterator[aiohttp.ClientResponse]:
    """The answer, once its headers are there and say success."""
    # aiohttp sends large bytes in one go and warns about it; a file-like body goes out in pieces.
    body = io.BytesIO(call.body) if len(call.body) >= _LARGE_BODY else call.body
    async with session.post(
        call.way.url,
        data=body,
        headers=call.way.headers,
        proxy=call.way.proxy,
        timeout=call.way.timeout,
        # A redirect would carry the key to wherever it points.
        allow_redirects=False,
    ) as response:
        if not 200 <= response.status < 300:
            said = await read_at_most(response, LARGEST_ERROR)
            raise refusal_from_answer(
                call.host, response.status, response.headers, said, call.way.secrets
            )
        yield response


async def read_answer(session: aiohttp.ClientSession, call: HttpCall) -> dict[str, Any]:
    """The whole answer of a call that is not streamed."""
    async with watched(call) as watch, opened(session, call) as response:
        body = await read_at_most(response, LARGEST_ANSWER + 1, watch)
    if len(body) > LARGEST_ANSWER:
        raise garbled(call, f"an answer of more than {LARGEST_ANSWER} bytes")
    return parsed_object(call, body)


@asynccontextmanager
async def watched(call: HttpCall) -> AsyncIterator[StallWatch]:
    """Around everything that waits for the network: its errors become ours."""
    watch = StallWatch(call.patience)
    try:
        yield watch
    except asyncio.CancelledError:
        if watch.has_struck:
            raise _stalled(call) from None
        raise
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise network_error(call, error) from error
    finally:
        watch.stop()


def parsed_object(call: HttpCall, data: bytes) -> dict[str, Any]:
    """`data` as a JSON object that is not an error object."""
    try:
        parsed = parse_json(data)
    except ValueError:
        raise garbled(call, "something that is not JSON") from None
    if parsed.__class__ is not dict:
        raise garbled(call, "JSON that is not an object")
    if parsed.get("error"):
        raise error_from_event(parsed, host=call.host, secrets=call.way.secrets)
    return parsed


def garbled(call: HttpCall, what: str) -> ProviderError:
    return ProviderError(f"{call.host} sent {what}.", code="garbled")


def network_error(call: HttpCall, error: Exception) -> ProviderError:
    """Says what happened to the connection; the original's text may name addresses, not secrets."""
    host = call.host
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return ProviderError(
            f"{host} has a TLS certificate that cannot be verified; check base_url.", code="tls"
        )
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ConnectionLost(f"{host} did not accept a connection in time.", code="unreachable")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientProxyConnectionError):
        return ConnectionLost(
            f"Could not connect to {host}; check base_url and that it is running.",
            code="unreachable",
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return ProviderError(
            f"The proxy on the way to {host} answered {error.status}; check HTTPS_PROXY.",
            code="proxy_refused",
        )
    if isinstance(error, aiohttp.ClientResponseError):
        return garbled(call, "something that is not a valid HTTP answer")
    return ConnectionLost(
        f"The connection to {host} broke off before its answer was complete.",
        code="connection_lost",
    )


def _stalled(call: HttpCall) -> ProviderError:
    return ProviderError(f"{call.host} sent nothing for {call.patience:g} s.", code="stalled")


async def read_at_most(
    response: aiohttp.ClientResponse, limit: int, watch: StallWatch | None = None
) -> bytes:
    parts: list[bytes] = []
    left = limit
    async for part in response.content.iter_any():
        parts.append(part[:left])
        left -= len(part)
        if watch is not None:
            watch.saw_life()
        if left <= 0:
            break
    return b"".join(parts)
