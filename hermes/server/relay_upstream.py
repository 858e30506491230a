"""Calls to the providers of CLI agents' jobs: whose headers go on, and whose key.

Apart from the gateway's own model calls (`hermes.providers`): these are passed on as they are, and
wait while the job does not read.
"""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import yarl
from multidict import CIMultiDict, CIMultiDictProxy

from hermes.backends.hosting.job_tokens import Upstream
from hermes.core.errors import ProviderError, SettingsError
from hermes.providers.network_errors import through_proxy
from hermes.providers.proxies import proxy_for

CONNECT_SECONDS = 10.0
KEPT_SECONDS = 15.0
"""How long a free connection is kept."""

_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "content-encoding",  # both sides of us unpack
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OF_THE_JOB = frozenset(
    {"accept-encoding", "authorization", "cookie", "expect", "host", "x-api-key"}
)
_OF_THE_PROVIDER = frozenset({"alt-svc", "date", "server", "set-cookie"})


class Upstreams:
    """Has its own pool of connections, made on first use. Belongs to one event loop."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self, url: yarl.URL, headers: Mapping[str, str], body: bytes
    ) -> aiohttp.ClientResponse:
        """The answer, once its headers are there; closed by whoever gets it.

        Raises `ProviderError`. There is no limit to how long the provider may be silent: the job
        has its own, and so have its processes.
        """
        try:
            return await self._opened().post(
                url,
                data=body,
                headers=headers,
                proxy=proxy_for(url),
                # A redirect would carry the key to wherever it points.
                allow_redirects=False,
            )
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise through_proxy(url.host or "", error) from error
        except (SettingsError, ValueError) as error:  # of the proxy or of a header
            raise ProviderError(f"The provider cannot be asked: {error}") from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Far less than providers do, so that hardly ever one is used that was just closed.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                # Jobs share this session: no cookie may wander from one to another.
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
            )
        return self._session


def upstream_url(upstream: Upstream, path_and_query: str) -> yarl.URL:
    """Where a request for this path of ours goes, such as `/v1/messages?beta=true`."""
    base = upstream.base_url.rstrip("/").removesuffix("/v1")
    return yarl.URL(base + path_and_query, encoded=True)


def headers_to_provider(headers: CIMultiDictProxy[str], upstream: Upstream) -> CIMultiDict[str]:
    """The job's headers with the real key instead of its token."""
    passed = _without(headers, _OF_THE_CONNECTION | _OF_THE_JOB)
    # Compressed event streams arrive in lumps.
    passed["Accept-Encoding"] = "identity"
    if upstream.key_header == "x-api-key":
        passed["x-api-key"] = upstream.key
    else:
        passed["Authorization"] = f"Bearer {upstream.key}"
    return passed


def headers_to_job(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    return _without(headers, _OF_THE_CONNECTION | _OF_THE_PROVIDER)


def _without(headers: CIMultiDictProxy[str], names: frozenset[str]) -> CIMultiDict[str]:
    listed = ",".join(headers.getall("Connection", []))
    dropped = names | {name.strip().lower() for name in listed.split(",")}
    return CIMultiDict(
        (name, value) for name, value in headers.items() if name.lower() not in dropped
    )
