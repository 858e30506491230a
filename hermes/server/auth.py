"""Who may ask: the bearer key, and the two session headers that only a keyed caller may use."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from hermes.core.errors import Forbidden, InvalidApiKey, InvalidRequest

SESSION_ID_HEADER = "X-Hermes-Session-Id"
SESSION_KEY_HEADER = "X-Hermes-Session-Key"
CHAT_ID_HEADER = "X-OpenWebUI-Chat-Id"
TEMPORARY_CHAT = "local:"
MAX_HEADER_LENGTH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the request's headers say about who asks and what they want to continue."""

    session_id: str | None = None
    """`X-Hermes-Session-Id`: a stored session, named by the client."""
    session_key: str | None = None
    """`X-Hermes-Session-Key`: a stable scope for long-term memory."""
    chat_id: str | None = None
    """`X-OpenWebUI-Chat-Id`: a chat to be kept, where a key protects what is kept."""


def caller_of(headers: Mapping[str, str], api_key: str) -> Caller:
    """Raises `ApiError` for session headers that are malformed or not allowed."""
    return Caller(
        session_id=_guarded(headers, SESSION_ID_HEADER, api_key),
        session_key=session_key(headers, api_key),
        chat_id=_chat_id(headers, api_key),
    )


def check_key(headers: Mapping[str, str], api_key: str) -> None:
    """Raises `InvalidApiKey` unless no key is configured or the request carries it."""
    if not api_key:
        return
    scheme, _, offered = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _is_same(offered.strip(), api_key):
        return
    raise InvalidApiKey(
        "Incorrect API key provided. Send the gateway's key as 'Authorization: Bearer <key>'."
    )


def session_key(headers: Mapping[str, str], api_key: str) -> str | None:
    """The caller's memory scope, or None."""
    return _guarded(headers, SESSION_KEY_HEADER, api_key)


def _chat_id(headers: Mapping[str, str], api_key: str) -> str | None:
    """Open WebUI sends the header by itself, so without a key it is passed over, not refused."""
    if not api_key or CHAT_ID_HEADER not in headers:
        return None
    chat_id = _guarded(headers, CHAT_ID_HEADER, api_key)
    return None if chat_id is None or chat_id.startswith(TEMPORARY_CHAT) else chat_id


def _guarded(headers: Mapping[str, str], name: str, api_key: str) -> str | None:
    """A header that reaches stored data: refused where anybody could send it."""
    value = headers.get(name, "").strip(" \t")
    if not value:
        return None
    if not api_key:
        raise Forbidden(
            f"{name} requires API key authentication: start the gateway with a key "
            "(API_SERVER_KEY or --key) and send it as a bearer token.",
            code="api_key_required",
        )
    if len(value) > MAX_HEADER_LENGTH:
        raise InvalidRequest(
            f"{name} is too long: at most {MAX_HEADER_LENGTH} characters.", param=name
        )
    if not value.isprintable():
        raise InvalidRequest(f"{name} must not contain control characters.", param=name)
    return value


def _is_same(offered: str, expected: str) -> bool:
    return hmac.compare_digest(offered.encode(errors="surrogatepass"), expected.encode())
