"""What can go wrong between us and a provider, put into words. Names hosts, never secrets."""

from __future__ import annotations

import ssl

import aiohttp

from hermes.core.errors import ConnectionLost, ProviderError

BROKEN_CONNECTION = frozenset({"connection_lost", "stalled", "garbled"})
"""The codes of what may happen to an answer under way."""


def garbled(host: str, what: str) -> ProviderError:
    return ProviderError(f"{host} sent {what}.", code="garbled")


def not_http(host: str) -> ProviderError:
    return garbled(host, "something that is not a valid HTTP answer")


def stalled(host: str, patience: float) -> ProviderError:
    return ProviderError(f"{host} sent nothing for {patience:g} s.", code="stalled")


def only_signs_of_life(host: str, patience: float) -> ProviderError:
    return ProviderError(
        f"{host} kept the connection alive for {patience:g} s, but sent nothing of an answer.",
        code="stalled",
    )


def broken_off(host: str) -> ConnectionLost:
    return ConnectionLost(
        f"The connection to {host} broke off before its answer was complete.",
        code="connection_lost",
    )


def cannot_connect(host: str, error: Exception) -> ProviderError:
    """A connection that never came to be."""
    if isinstance(error, ssl.SSLError):
        return _untrusted(host)
    if isinstance(error, TimeoutError):
        return _too_slow(host)
    return _unreachable(host)


def through_proxy(host: str, error: Exception) -> ProviderError:
    """What aiohttp, which carries the calls through a proxy, raised."""
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return _untrusted(host)
        case aiohttp.ConnectionTimeoutError():
            return _too_slow(host)
        case aiohttp.ClientHttpProxyError(status=status):
            return ProviderError(
                f"The proxy on the way to {host} answered {status}; check HTTPS_PROXY.",
                code="proxy_refused",
            )
        case aiohttp.ClientConnectorError():
            return _unreachable(host)
        case aiohttp.ClientResponseError():
            return not_http(host)
        case _:
            return broken_off(host)


def _untrusted(host: str) -> ProviderError:
    return ProviderError(
        f"{host} has a TLS certificate that cannot be verified; check base_url.", code="tls"
    )


def _too_slow(host: str) -> ConnectionLost:
    return ConnectionLost(f"{host} did not accept a connection in time.", code="unreachable")


def _unreachable(host: str) -> ConnectionLost:
    return ConnectionLost(
        f"Could not connect to {host}; check base_url and that it is running.",
        code="unreachable",
    )
