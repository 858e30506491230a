"""Refusals in the words of Anthropic's API, for clients that speak it."""

from __future__ import annotations

from typing import Any

from hermes.core.errors import ApiError, BodyTooLarge

CAP_REACHED = "job_cap_reached"

_TYPES = {
    "server_error": "api_error",
    "conflict_error": "invalid_request_error",
}
"""Where Anthropic has another name for it."""


def anthropic_refusal(error: ApiError) -> tuple[int, dict[str, Any]]:
    """The status and the body."""
    status, kind = error.status, _TYPES.get(error.type, error.type)
    if error.code == CAP_REACHED:
        # To a 400 Claude Code answers by asking in five other ways; this ends it at once.
        status, kind = 402, "billing_error"
    if isinstance(error, BodyTooLarge):
        kind = "request_too_large"
    return status, {"type": "error", "error": {"type": kind, "message": error.message}}
