"""Every error the house raises on purpose.

    HermesError
    ├── ApiError                a request is answered with this status and envelope
    │   ├── InvalidRequest      400  the request says something we cannot do
    │   ├── InvalidApiKey       401  no key, or the wrong one
    │   ├── Forbidden           403  the key is right, the wish is not allowed
    │   ├── NotFound            404  nothing has this id or path
    │   ├── MethodNotAllowed    405  the path exists, but not with this method
    │   ├── Conflict            409  not as things stand: the session is busy, the key was used
    │   │   ├── SessionBusy     409  another run is active in the session
    │   │   └── IdempotencyConflict 409  the key belongs to another request
    │   ├── EventsGone          410  the events asked for were deleted
    │   ├── BodyTooLarge        413  the body is over the configured limit
    │   ├── RateLimited         429  too much at once: for the provider, or for this gateway
    │   │   └── BudgetExhausted 429  what may be used is used up
    │   ├── AgentIncomplete     502  the agent ended without a usable answer
    │   ├── ProviderFailed      502  the provider failed in a way that waiting does not mend
    │   └── Unavailable         503  not now; try again after a while
    ├── SettingsError           a setting has a value that is not allowed
    ├── ProviderError           a model provider refused, broke off or answered nonsense
    │   └── ConnectionLost      its connection failed; trying again may help
    ├── NotFetched              a page or a search could not be had from the web
    ├── Interrupted             somebody asked the running turn to stop
    │   └── Fenced              another process owns what this one was working on
    └── AlreadyRunning          another process owns this home folder

Inside the house we raise; only `server.dispatch` and the command line turn errors into answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class HermesError(Exception):
    """The root of everything below."""


class ApiError(HermesError):
    """A request ends with this answer. `message` is for the caller and says what to do next."""

    status = 500
    type = "server_error"
    default_code = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.param = param
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})


class InvalidRequest(ApiError):
    """The request says something we cannot do; `param` names the offending field."""

    status = 400
    type = "invalid_request_error"
    default_code = "invalid_request"


class InvalidApiKey(ApiError):
    """No key was sent where one is required, or it is not the configured one."""

    status = 401
    type = "authentication_error"
    default_code = "invalid_api_key"


class Forbidden(ApiError):
    """The caller is known, but may not do this."""

    status = 403
    type = "permission_error"
    default_code = "forbidden"


class NotFound(ApiError):
    """Nothing has this id or path."""

    status = 404
    type = "invalid_request_error"
    default_code = "not_found"


class MethodNotAllowed(ApiError):
    """The path exists, but not with this method."""

    status = 405
    type = "invalid_request_error"
    default_code = "method_not_allowed"


class Conflict(ApiError):
    """The request is fine, but not as things stand."""

    status = 409
    type = "conflict_error"
    default_code = "conflict"


class SessionBusy(Conflict):
    """Another run is active in the session; the answer carries `Retry-After`."""

    default_code = "session_busy"

    def __init__(self, session_id: str, active_run_id: str) -> None:
        super().__init__(
            f"Session '{session_id[:100]}' is at work on run {active_run_id}. Wait for it, stop it "
            f"with POST /v1/runs/{active_run_id}/stop, or send X-Hermes-When-Busy: queue.",
            headers={"Retry-After": "5"},
            extra={"run_id": active_run_id},
        )
        self.active_run_id = active_run_id


class IdempotencyConflict(Conflict):
    """The idempotency key belongs to a request with another body."""

    default_code = "idempotency_key_conflict"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used for a request with another body. Use a new key for a "
            "new request.",
            param="Idempotency-Key",
        )


class EventsGone(ApiError):
    """The events asked for were deleted; `extra` carries what became of it all."""

    status = 410
    type = "invalid_request_error"
    default_code = "events_gone"


class BodyTooLarge(ApiError):
    """The request body is over the configured limit."""

    status = 413
    type = "invalid_request_error"
    default_code = "request_too_large"


class RateLimited(ApiError):
    """Too much at once, for the provider or for this gateway; the answer carries `Retry-After`."""

    status = 429
    type = "rate_limit_error"
    default_code = "rate_limit_exceeded"


class BudgetExhausted(RateLimited):
    """What the session, the key or the day may use is used up; nothing was done.

    Clients are told not to try again by themselves: that helps only when the day is over, which
    `Retry-After` says, or when somebody raises the limit.
    """

    default_code = "budget_exhausted"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        told = {"x-should-retry": "false", **(headers or {})}
        super().__init__(message, code=code, headers=told, extra=extra)


class AgentIncomplete(ApiError):
    """The agent ended without a usable answer."""

    status = 502
    default_code = "agent_incomplete"


class ProviderFailed(ApiError):
    """The provider failed in a way that waiting does not mend: its key, its credit, its answer."""

    status = 502
    default_code = "provider_error"


class Unavailable(ApiError):
    """Not now: the server is draining or busy; the answer carries `Retry-After`."""

    status = 503
    default_code = "unavailable"


class SettingsError(HermesError):
    """A setting has a value that is not allowed."""

    def __init__(self, key: str, found: object, allowed: str) -> None:
        super().__init__(f"{key}: found {found!r}; allowed: {allowed}")
        self.key = key
        self.found = found
        self.allowed = allowed


class ProviderError(HermesError):
    """A model provider refused, broke off or answered nonsense. The message is safe to show."""

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        code: str = "provider_error",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.code = code
        self.retry_after = retry_after
        """How many seconds it asked us to wait."""


class ConnectionLost(ProviderError):
    """The provider's connection failed or broke off; the same call may succeed when tried again."""


class NotFetched(HermesError):
    """A page or a search could not be had from the web; the text says why and what to do."""


class Interrupted(HermesError):
    """Somebody asked the running turn to stop."""


class Fenced(Interrupted):
    """Another process owns what this one was working on; nothing more of it is kept."""


class AlreadyRunning(HermesError):
    """Another process owns this home folder."""
