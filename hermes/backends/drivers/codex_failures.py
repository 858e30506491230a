"""Why a turn of Codex failed: its own names and words for it, as the house's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.backends.drivers.endings import code_of_status, failed
from hermes.backends.drivers.foreign_json import Json, at, object_of, text
from hermes.backends.saying import Ending, EndKind

_CODES = {
    "contextWindowExceeded": "context_overflow",
    "sessionBudgetExceeded": "budget_exhausted",
    "usageLimitExceeded": "rate_limited",
    "rateLimitExceeded": "rate_limited",
    "flexUnavailable": "overloaded",
    "serverOverloaded": "overloaded",
    "policyCapacityUnavailable": "overloaded",
    "internalServerError": "overloaded",
    "modelNotFound": "bad_request",
    "badRequest": "bad_request",
    "unauthorized": "authentication",
}

_REFUSALS = ("cyberPolicy", "misalignmentPolicyViolation")

_INCOMPLETE = "Incomplete response returned, reason: "


def ending_of(error: Json) -> Ending:
    """What a `TurnError` amounts to; of `codex exec` only its `message` is known."""
    message = text(error, "message") or "Codex says that the turn failed."
    info = error.get("codexErrorInfo")
    kind = EndKind.REFUSED if info in _REFUSALS else _kind_of_words(message)
    if kind is EndKind.FAILED:
        return failed(_readable(message), code=_code(info, message))
    return Ending(kind=kind, error=_readable(message))


def is_session_unknown(message: str) -> bool:
    """Whether these are Codex's words for a thread that it does not have."""
    return "no rollout found" in message or "invalid session id" in message


def _code(info: Any, message: str) -> str | None:
    """Codex names what it knows; else the words are looked at, where this returns None."""
    if isinstance(info, str) and info in _CODES:
        return _CODES[info]
    if isinstance(info, Mapping):
        statuses = [at(detail, "httpStatusCode") for detail in info.values()]
        status = next((status for status in statuses if isinstance(status, int)), None)
        return code_of_status(status) if status is not None else "network"
    said = object_of(message)
    if said is None:
        return None
    # Only a request that the provider did not like comes back as the provider's own JSON.
    is_overflow = at(said, "error", "code") == "context_length_exceeded"
    return "context_overflow" if is_overflow else "bad_request"


def _kind_of_words(message: str) -> EndKind:
    if f"{_INCOMPLETE}content_filter" in message:
        return EndKind.REFUSED
    return EndKind.TRUNCATED if _INCOMPLETE in message else EndKind.FAILED


def _readable(message: str) -> str:
    said = object_of(message)
    return text(said, "error", "message") or message
