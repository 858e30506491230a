"""What the bridge answers with; its errors are flat, with what helps beside them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import ApiError, Conflict, InvalidApiKey, NotFound, RateLimited, Unavailable

DETAIL_LIMIT = 2000
BUSY_RETRY_SECONDS = 5

_RETRY = {"Retry-After": str(BUSY_RETRY_SECONDS)}


@dataclass(frozen=True, slots=True)
class BridgeAnswer:
    """A status and a JSON body, for whoever speaks HTTP."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(error: ApiError) -> BridgeAnswer:
    """`error` is a text, what helps stands beside it."""
    return BridgeAnswer(error.status, {"error": error.message, **error.extra}, error.headers)


def failed(detail: str) -> Unavailable:
    """The end of a long detail says more than its beginning."""
    return Unavailable("execution failed", extra={"detail": detail[-DETAIL_LIMIT:]})


def busy(detail: str) -> Unavailable:
    extra = {"detail": f"{detail}; try again later"}
    return Unavailable("execution failed", headers=_RETRY, extra=extra)


def no_job_now(detail: str, *, has_queue: bool) -> ApiError:
    extra = {"detail": f"{detail}; try again later"}
    if has_queue:
        return RateLimited("too many jobs", headers=_RETRY, extra=extra)
    return Conflict("agent is busy", headers=_RETRY, extra=extra)


def unknown_job() -> NotFound:
    detail = "there is no job with this id, or it ended too long ago (JOB_TTL_SECONDS)"
    return NotFound("job not found", extra={"detail": detail})


def unauthorized(detail: str) -> InvalidApiKey:
    headers = {"WWW-Authenticate": "Bearer"}
    return InvalidApiKey("unauthorized", headers=headers, extra={"detail": detail})
