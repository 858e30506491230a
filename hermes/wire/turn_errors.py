"""A turn that failed, as an error its caller can act on: wait, change the request, tell somebody.

What failed is known from `Failure.code`; a turn that gives none is `agent_incomplete`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hermes.core.errors import (
    AgentIncomplete,
    ApiError,
    BudgetExhausted,
    Forbidden,
    InvalidRequest,
    ProviderFailed,
    RateLimited,
    Unavailable,
)
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.wire.chat import ERROR_CODES, agent_incomplete

DEFAULT_WAIT = 5

KINDS: Mapping[str, tuple[type[ApiError], str]] = MappingProxyType(
    {
        "rate_limited": (RateLimited, "rate_limit_exceeded"),
        "budget_exhausted": (BudgetExhausted, "budget_exhausted"),
        "overloaded": (Unavailable, "provider_unavailable"),
        "network": (Unavailable, "provider_unavailable"),
        "stalled": (Unavailable, "provider_unavailable"),
        "context_overflow": (InvalidRequest, "context_length_exceeded"),
        "bad_request": (InvalidRequest, "provider_refused"),
        "images_unsupported": (InvalidRequest, "images_unsupported"),
        "auth": (ProviderFailed, "provider_error"),
        "billing": (ProviderFailed, "provider_error"),
        "garbled": (ProviderFailed, "provider_error"),
        "unknown": (ProviderFailed, "provider_error"),
        "content_filter": (ProviderFailed, "content_filter"),
        "invalid_structured_output": (ProviderFailed, "invalid_structured_output"),
        "cli_queue_full": (RateLimited, "cli_queue_full"),
        "cli_queue_timeout": (Unavailable, "cli_queue_timeout"),
        "cli_unavailable": (Unavailable, "cli_unavailable"),
        "cli_workspace_failed": (Unavailable, "cli_workspace_failed"),
        "cli_profile_refused": (Forbidden, "profile_not_allowed"),
        "cli_timeout": (AgentIncomplete, "cli_timeout"),
        "cli_crashed": (ProviderFailed, "cli_failed"),
        "cli_garbage": (ProviderFailed, "cli_failed"),
        "cli_output_truncated": (ProviderFailed, "cli_failed"),
        "cli_session_unknown": (ProviderFailed, "cli_failed"),
        "agent_error": (ApiError, "agent_error"),
        "run_timeout": (AgentIncomplete, "run_timeout"),
        "run_not_stored": (Unavailable, "run_store_unavailable"),
        "worker_lost": (AgentIncomplete, "worker_lost"),
    }
)

_RESPONSE_CODES: Mapping[str, str] = MappingProxyType(
    {
        "rate_limit_exceeded": "rate_limit_exceeded",
        "budget_exhausted": "rate_limit_exceeded",
        "context_length_exceeded": "invalid_prompt",
        "provider_refused": "invalid_prompt",
        "images_unsupported": "invalid_prompt",
    }
)
"""The codes a response object may have are a closed set; what is none of them is a server error."""


def turn_error(result: TurnResult, said: Mapping[str, str] | None = None) -> ApiError:
    """The error for a turn without a usable answer; what text there is travels in `hermes`.

    `said` are headers that its answer would have had, such as the id of its run.
    """
    told = agent_incomplete(result)
    told.headers.update(said or {})
    failure = result.failure
    if failure is None or result.outcome is not Outcome.FAILED:
        return told
    kind, code = _kind(failure)
    waits = issubclass(kind, RateLimited | Unavailable) and (
        failure.retry_after is not None or not issubclass(kind, BudgetExhausted)
    )
    headers = {"Retry-After": str(_seconds(failure))} if waits else {}
    return kind(told.message, code=code, headers={**told.headers, **headers}, extra=told.extra)


def chunk_error(result: TurnResult) -> dict[str, Any]:
    """The same as the error object inside a stream that has already begun."""
    error = turn_error(result)
    has_reason = result.failure is not None and result.outcome is Outcome.FAILED
    return {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code if has_reason else ERROR_CODES[result.outcome],
    }


def response_error(result: TurnResult) -> dict[str, Any]:
    """The same as the `error` of a response object."""
    error = turn_error(result)
    return {"code": _RESPONSE_CODES.get(error.code, "server_error"), "message": error.message}


def _kind(failure: Failure) -> tuple[type[ApiError], str]:
    return KINDS.get(failure.code, (ProviderFailed, "provider_error"))


def _seconds(failure: Failure) -> int:
    wait = failure.retry_after
    return DEFAULT_WAIT if wait is None or not math.isfinite(wait) else max(math.ceil(wait), 1)
