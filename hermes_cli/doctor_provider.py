"""Examines the model's provider: is it there, does it take the key, does it know the model?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace

import aiohttp
import orjson

from hermes.agent.clients import endpoint_of
from hermes.core.errors import HermesError
from hermes.providers.endpoint import headers_for, url_for
from hermes.providers.proxies import proxy_for
from hermes.settings.known_providers import KNOWN
from hermes.settings.model import ProviderSettings
from hermes_cli.doctor_finding import Finding, ok, problem, warning

SECONDS = 5.0
_LARGEST_LIST = 8_000_000
_KEY_REFUSED = (401, 403)
_NO_LIST_HERE = (404, 405, 501)


@dataclass(frozen=True, slots=True)
class Answer:
    """What `GET …/models` was answered."""

    status: int
    models: frozenset[str] = frozenset()
    """Empty when the answer is no list we can read."""


def provider(settings: ProviderSettings, title: str = "Provider") -> Iterator[Finding]:
    """Asks the provider for its models, with each of its keys; `SECONDS` at most for each."""
    for number, key in enumerate(settings.api_keys, 1):
        single = replace(settings, api_key=key, api_keys=())
        yield from provider(single, f"{title}, key {number}")
    if settings.api_keys:
        return
    if settings.provider == "demo":
        yield warning(
            title,
            "the built-in demo model answers",
            "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write a provider into config.yaml",
        )
        return
    try:
        answer = asyncio.run(_ask(settings))
    except (TimeoutError, aiohttp.ClientError, OSError, HermesError) as error:
        yield _unreachable(title, settings, error)
        return
    yield judged(title, settings, answer)
    if answer.status == 200:
        yield _model(settings, answer.models)


async def _ask(settings: ProviderSettings) -> Answer:
    endpoint = endpoint_of(settings)
    url = url_for(endpoint, "models")
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as http,
        # Not followed: a redirect would take the key to another place.
        http.get(
            url, headers=headers_for(endpoint), proxy=proxy_for(url), allow_redirects=False
        ) as response,
    ):
        body = await response.content.read(_LARGEST_LIST) if response.status == 200 else b""
        return Answer(response.status, _names(body))


def _names(body: bytes) -> frozenset[str]:
    try:
        data = orjson.loads(body)["data"]
        return frozenset(str(model["id"]) for model in data)
    except (ValueError, TypeError, KeyError):
        return frozenset()


def judged(title: str, settings: ProviderSettings, answer: Answer) -> Finding:
    """What an answer's status says about the provider."""
    where = f"{settings.provider} at {settings.base_url}"
    status = answer.status
    if status == 200:
        return ok(title, f"{where} answers and takes the key" if settings.api_key else where)
    if status in _KEY_REFUSED:
        return problem(title, f"{where} refuses the key (HTTP {status})", _key_advice(settings))
    if status in _NO_LIST_HERE:
        return warning(
            title,
            f"{where} answers, but lists no models (HTTP {status})",
            "fine for some servers; if turns fail too, check base_url (most end in /v1)",
        )
    if 300 <= status < 400:
        return warning(title, f"{where} answers with a redirect (HTTP {status})", "check base_url")
    return warning(title, f"{where} is in trouble (HTTP {status})", "try again in a while")


def _key_advice(settings: ProviderSettings) -> str:
    known = KNOWN.get(settings.provider)
    variable = known.key_variable if known and known.key_variable else "api_key in config.yaml"
    if settings.api_key:
        return f"check {variable}: the key may be mistyped, expired or another provider's"
    return f"set {variable}: no key is configured"


def _model(settings: ProviderSettings, models: frozenset[str]) -> Finding:
    if models and settings.model not in models:
        return warning(
            "Model",
            f"{settings.model} is not in the provider's list of {len(models)} models",
            "check HERMES_MODEL or `model` in config.yaml",
        )
    return ok("Model", settings.model)


def _unreachable(title: str, settings: ProviderSettings, error: Exception) -> Finding:
    where = f"{settings.provider} at {settings.base_url}"
    if isinstance(error, HermesError):
        return problem(title, str(error), "correct the setting")
    if isinstance(error, TimeoutError):
        detail = f"{where} did not answer within {SECONDS:g} seconds"
        return problem(title, detail, "check the network, a proxy (HTTPS_PROXY) and base_url")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        detail = "the proxy of HTTPS_PROXY or HTTP_PROXY cannot be reached"
        return problem(title, detail, "correct the variable, or list the host in NO_PROXY")
    if isinstance(error, aiohttp.ClientSSLError):
        return problem(
            title,
            f"{where} has no certificate this machine trusts",
            "check the clock, set SSL_CERT_FILE for a private authority, or write http:// "
            "when the server speaks no TLS",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return problem(title, f"{where}: the host is not known", "check base_url and the network")
    return problem(
        title,
        f"{where} cannot be reached ({_reason(error)})",
        "check that the server is running, and base_url with its port",
    )


def _reason(error: Exception) -> str:
    """Why, in the system's words; an error's own text may repeat the request."""
    cause = getattr(error, "os_error", error)
    return getattr(cause, "strerror", None) or type(error).__name__
