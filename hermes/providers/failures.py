"""Says what kind of failure an error is. What is done about each kind is in `agent/remedies.py`.

The SDKs' errors are recognised by their names: importing an SDK costs half a second, and they are
optional.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import aiohttp

from hermes.core.errors import ConnectionLost, ProviderError
from hermes.providers.refusals import retry_after_of, says_connection_lost
from hermes.providers.safe_text import safe_text


class FailureKind(Enum):
    """Why a model call failed."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    """The provider itself is in trouble (5xx)."""
    AUTH = "auth"
    BILLING = "billing"
    """No credit or no quota left: waiting does not help."""
    CONTEXT_OVERFLOW = "context_overflow"
    IMAGES_UNSUPPORTED = "images_unsupported"
    BAD_REQUEST = "bad_request"
    NETWORK = "network"
    STALLED = "stalled"
    GARBLED = "garbled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the agent and its caller need to know of an error."""

    kind: FailureKind
    message: str
    """Safe to show."""
    retry_after: float | None
    """How many seconds it asked us to wait, in a header or in its words."""
    status_code: int | None


_KIND_BY_CODE = {
    "stalled": FailureKind.STALLED,
    "garbled": FailureKind.GARBLED,
    "connection_lost": FailureKind.NETWORK,
    "unreachable": FailureKind.NETWORK,
    "tls": FailureKind.BAD_REQUEST,
    "rate_limit_exceeded": FailureKind.RATE_LIMITED,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "overloaded_error": FailureKind.OVERLOADED,
    "api_error": FailureKind.OVERLOADED,
    "server_error": FailureKind.OVERLOADED,
    "internal_server_error": FailureKind.OVERLOADED,
    "server_is_overloaded": FailureKind.OVERLOADED,
    "timeout_error": FailureKind.OVERLOADED,
    "authentication_error": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "invalid_api_key": FailureKind.AUTH,
    "insufficient_quota": FailureKind.BILLING,
    "billing_error": FailureKind.BILLING,
    "context_length_exceeded": FailureKind.CONTEXT_OVERFLOW,
    "request_too_large": FailureKind.CONTEXT_OVERFLOW,
    "images_unsupported": FailureKind.IMAGES_UNSUPPORTED,
    "invalid_request_error": FailureKind.BAD_REQUEST,
    "not_found_error": FailureKind.BAD_REQUEST,
    "model_not_found": FailureKind.BAD_REQUEST,
}

_TOLD_BY_CODE = frozenset(
    {FailureKind.BILLING, FailureKind.CONTEXT_OVERFLOW, FailureKind.IMAGES_UNSUPPORTED}
)
"""Kinds that hide behind a status with another meaning: there the code is believed."""

_KIND_BY_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    408: FailureKind.STALLED,
    409: FailureKind.OVERLOADED,
    413: FailureKind.CONTEXT_OVERFLOW,
    425: FailureKind.OVERLOADED,
    429: FailureKind.RATE_LIMITED,
}

_CONTEXT_OVERFLOW = re.compile(
    r"(?i)context[ _](length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|input is too long|exceeds? the (model|maximum).{0,40}tokens"
)
_BILLING = re.compile(
    r"(?i)insufficient[_ ](quota|credit|balance|funds)|exceeded your current quota|billing"
    r"|credit balance|payment required|out of credits"
)

_COME_BACK = re.compile(
    r"(?i)\b(?:try again|retry) (?:in|after) "
    r"(?:(\d{1,4})m(?!s))?(?:(\d{1,7}(?:\.\d{1,9})?) ?(ms|s))?"
)

_NO_IMAGES = re.compile(
    r"(?i)(not|n't) support.{0,30}\b(images?|vision)\b(?!/)"
    r"|\bimages?( inputs?| content)? (is|are) not (supported|allowed)"
    r"|\b(image_url|images?) is only supported by|no endpoints found that support image"
)

_OUR_CONNECTION_ERRORS = (
    ConnectionLost,
    aiohttp.ClientConnectionError,
    aiohttp.ClientPayloadError,
)
_SDKS = frozenset({"openai", "anthropic"})
_HTTP_LIBRARIES = frozenset({"httpx", "httpx2", "httpcore", "httpcore2"})
_TIMEOUTS = frozenset({"TimeoutException", "APITimeoutError"})
_TRANSPORT_ERRORS = frozenset({"TransportError", "NetworkError", "ProtocolError"}) | _TIMEOUTS


def classify(error: BaseException) -> Failure:
    """What `error`, raised by a model call, means."""
    message = safe_text(str(error)) or type(error).__name__
    kind = _kind_of(error, message)
    return Failure(
        kind=kind,
        message=message,
        retry_after=_retry_after(error, message),
        status_code=_status_of(error),
    )


def is_transient_stream_failure(error: BaseException) -> bool:
    """Whether the connection failed, so that opening the same stream again at once may help."""
    if isinstance(error, _OUR_CONNECTION_ERRORS):
        return True
    if _has_base(error, _HTTP_LIBRARIES, _TRANSPORT_ERRORS):
        return True
    if _has_base(error, _SDKS, frozenset({"APIConnectionError"})):
        return True
    is_from_stream = _has_base(error, _SDKS, frozenset({"APIError"})) and _status_of(error) is None
    return is_from_stream and says_connection_lost(str(error))


def says_streaming_unsupported(error: BaseException) -> bool:
    """Whether the provider cannot stream; the same call without streaming may succeed."""
    text = str(error).lower()
    return "stream" in text and "not supported" in text


def _kind_of(error: BaseException, message: str) -> FailureKind:
    status = _status_of(error)
    if status is not None:
        return _kind_by_status(status, _code_of(error), message)
    kind = _kind_by_class(error) or _KIND_BY_CODE.get(_code_of(error))
    if kind in (None, FailureKind.BAD_REQUEST, FailureKind.RATE_LIMITED):
        return _kind_by_words(message) or kind or FailureKind.UNKNOWN
    return kind


def _kind_by_status(status: int, code: str, message: str) -> FailureKind:
    if status >= 500:
        # Some local servers report a prompt that is too long as a fault of their own.
        is_overflow = _CONTEXT_OVERFLOW.search(message)
        return FailureKind.CONTEXT_OVERFLOW if is_overflow else FailureKind.OVERLOADED
    by_code = _KIND_BY_CODE.get(code)
    return (
        (by_code if by_code in _TOLD_BY_CODE else None)
        or _kind_by_words(message)
        or _KIND_BY_STATUS.get(status)
        or (FailureKind.BAD_REQUEST if status >= 300 else FailureKind.UNKNOWN)
    )


def _kind_by_words(message: str) -> FailureKind | None:
    if _CONTEXT_OVERFLOW.search(message):
        return FailureKind.CONTEXT_OVERFLOW
    if _NO_IMAGES.search(message):
        return FailureKind.IMAGES_UNSUPPORTED
    if _COME_BACK.search(message):
        return None  # a quota that fills up again is a rate limit, whatever it is called
    return FailureKind.BILLING if _BILLING.search(message) else None


def _kind_by_class(error: BaseException) -> FailureKind | None:
    if isinstance(error, ProviderError) and error.code in ("stalled", "garbled"):
        return _KIND_BY_CODE[error.code]
    if isinstance(error, TimeoutError) or _has_base(error, _SDKS | _HTTP_LIBRARIES, _TIMEOUTS):
        return FailureKind.STALLED
    if isinstance(error, ConnectionError) or is_transient_stream_failure(error):
        return FailureKind.NETWORK
    return FailureKind.GARBLED if isinstance(error, json.JSONDecodeError) else None


def _status_of(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and not isinstance(status, bool) else None


def _code_of(error: BaseException) -> str:
    """Our own code, or what an SDK read from the body."""
    code: Any = getattr(error, "code", None) or getattr(error, "type", None)
    return code if isinstance(code, str) else ""


def _retry_after(error: BaseException, message: str) -> float | None:
    own = getattr(error, "retry_after", None)
    if isinstance(own, int | float):
        return float(own)
    headers = getattr(getattr(error, "response", None), "headers", None)
    asked = retry_after_of(headers) if isinstance(headers, Mapping) else None
    return _asked_in_words(message) if asked is None else asked


def _asked_in_words(message: str) -> float | None:
    """Some say it in a sentence only: "Please try again in 1m2.5s."."""
    found = _COME_BACK.search(message)
    if found is None or not (found[1] or found[2]):
        return None
    seconds = float(found[2] or 0)
    return int(found[1] or 0) * 60 + (seconds / 1000 if found[3] == "ms" else seconds)


def _has_base(error: BaseException, libraries: frozenset[str], names: frozenset[str]) -> bool:
    return any(
        cls.__name__ in names and cls.__module__.partition(".")[0] in libraries
        for cls in type(error).__mro__
    )
