"""Who may ask: the bearer keys, and the two session headers that only a keyed caller may use."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hermes.core.errors import Forbidden, InvalidApiKey, InvalidRequest
from hermes.settings.model import NamedKey
from hermes.settings.named_keys import MAIN, NOBODY

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
    owner: str = NOBODY
    """The name of the key that was sent; runs and idempotency keys belong to it."""


def caller_of(headers: Mapping[str, str], api_key: str, keys: Sequence[NamedKey] = ()) -> Caller:
    """Raises `ApiError` for session headers that are malformed or not allowed."""
    is_keyed = requires_key(api_key, keys)
    return Caller(
        session_id=_guarded(headers, SESSION_ID_HEADER, is_keyed=is_keyed),
        session_key=session_key(headers, is_keyed=is_keyed),
        chat_id=_chat_id(headers, is_keyed=is_keyed),
        owner=_owner(headers, api_key, keys),
    )


def requires_key(api_key: str, keys: Sequence[NamedKey] = ()) -> bool:
    return bool(api_key or keys)


def check_key(headers: Mapping[str, str], api_key: str, keys: Sequence[NamedKey] = ()) -> str:
    """The name of the key that the request carries.

    Raises `InvalidApiKey` unless no key is configured or it carries one of them.
    """
    if not requires_key(api_key, keys):
        return NOBODY
    scheme, _, offered = headers.get("Authorization", "").partition(" ")
    name = _name_of(offered.strip(), api_key, keys)
    if scheme.lower() == "bearer" and name is not None:
        return name
    raise InvalidApiKey(
        "Incorrect API key provided. Send the gateway's key as 'Authorization: Bearer <key>'."
    )


def session_key(headers: Mapping[str, str], *, is_keyed: bool) -> str | None:
    """The caller's memory scope, or None."""
    return _guarded(headers, SESSION_KEY_HEADER, is_keyed=is_keyed)


def _owner(headers: Mapping[str, str], api_key: str, keys: Sequence[NamedKey]) -> str:
    """Every request is checked before: with a single key there is only one who can have asked."""
    if keys:
        return check_key(headers, api_key, keys)
    return MAIN if api_key else NOBODY


def _name_of(offered: str, api_key: str, keys: Sequence[NamedKey]) -> str | None:
    """Compared with all of them, whichever fits: the time tells nothing about the keys."""
    found = MAIN if api_key and _is_same(offered, api_key) else None
    for named in keys:
        if _is_same(offered, named.key):
            found = named.name
    return found


def _chat_id(headers: Mapping[str, str], *, is_keyed: bool) -> str | None:
    """Open WebUI sends the header by itself, so without a key it is passed over, not refused."""
    if not is_keyed or CHAT_ID_HEADER not in headers:
        return None
    chat_id = _guarded(headers, CHAT_ID_HEADER, is_keyed=is_keyed)
    return None if chat_id is None or chat_id.startswith(TEMPORARY_CHAT) else chat_id


def _guarded(headers: Mapping[str, str], name: str, *, is_keyed: bool) -> str | None:
    """A header that reaches stored data: refused where anybody could send it."""
    value = headers.get(name, "").strip(" \t")
    if not value:
        return None
    if not is_keyed:
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
