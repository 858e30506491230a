"""Turns a provider's error answers (HTTP status, error objects in streams) into our errors."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from hermes.core.errors import ConnectionLost, ProviderError
from hermes.providers.fields import field, parse_json, text_field
from hermes.providers.safe_text import safe_text

_CODE = re.compile(r"[A-Za-z][\w.-]{0,63}")
_CONNECTION_LOST = re.compile(
    r"(?i)connection (was )?(lost|reset|closed|aborted|terminated|error)|network (connection|error)"
    r"|peer closed|broken pipe|upstream connect error|socket hang up|stream (was )?terminated"
)


class RefusedByProvider(ProviderError):
    """The provider answered with an error."""


def says_connection_lost(message: str) -> bool:
    """Whether an error object in a stream tells of a connection lost behind the provider."""
    return _CONNECTION_LOST.search(message) is not None


def refusal_from_answer(
    host: str, status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str | None]
) -> RefusedByProvider:
    """The error for an HTTP answer that is not a success."""
    said, code = _read_error(_parse_or_none(body))
    said = said or body.decode(errors="replace")
    shown = safe_text(said, secrets=secrets) or "no explanation"
    if 300 <= status < 400:
        shown = "it redirects elsewhere; set base_url to the address it really lives at"
    return RefusedByProvider(
        f"{host} answered {status}: {shown}",
        status_code=status,
        code=code,
        retry_after=retry_after_of(headers),
    )


def error_from_event(
    event: Any, *, host: str = "The provider", secrets: Iterable[str | None] = ()
) -> ProviderError:
    """The error for an error object that arrived where an answer was expected."""
    said, code = _read_error(event)
    shown = safe_text(said, secrets=secrets) or "no explanation"
    status = _status_in(event)
    message = f"{host} reported an error: {shown}"
    if status is None and says_connection_lost(said):
        return ConnectionLost(message, code=code)
    return RefusedByProvider(message, status_code=status, code=code)


def raise_if_error(response: Any) -> None:
    """Some servers answer 200 with an error object; that is no answer."""
    if field(response, "error") and isinstance(response, dict):
        raise error_from_event(response)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the headers ask for; understands seconds, milliseconds and dates."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    return seconds if seconds is not None or not asked else _seconds_until(asked)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _seconds_until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _parse_or_none(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None


def _read_error(answer: Any) -> tuple[str, str]:
    """Message and code, from `{"error": {…}}`, `{"error": "…"}` or the bare inner object."""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    error = field(answer, "error") or answer
    if isinstance(error, str):
        return error, "provider_error"
    said = text_field(error, "message") or text_field(error, "detail") or text_field(error, "msg")
    code = next(filter(None, (_code(field(error, name)) for name in ("code", "type"))), "")
    return said, code or "provider_error"


def _code(value: Any) -> str:
    is_name = isinstance(value, str) and _CODE.fullmatch(value) and value != "error"
    return value if is_name else ""


def _status_in(event: Any) -> int | None:
    """OpenRouter and its like put the HTTP status of the real provider into `error.code`."""
    error = field(event, "error")
    for name in ("code", "status", "status_code"):
        value = field(error, name)
        if isinstance(value, str) and value.isdecimal() and len(value) == 3:
            value = int(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None
