"""How the end of a CLI's job is told as the outcome of a turn. Pure."""

from __future__ import annotations

from typing import Protocol

from hermes.backends.saying import Ending, EndKind
from hermes.core.turn import Failure, Outcome, TurnResult

_CODES = {"authentication": "auth"}
"""Where the house has another name for it."""

_SILENT = "The CLI agent ended without saying why."


class Ended(Protocol):
    """Makes the result of the turn at hand."""

    def __call__(
        self,
        outcome: Outcome,
        text: str = "",
        *,
        error: str | None = None,
        failure: Failure | None = None,
    ) -> TurnResult: ...


def failure_of(ending: Ending) -> Failure:
    code = ending.code or "unknown"
    return Failure(code=_CODES.get(code, code), retry_after=ending.retry_after)


def result_of(ending: Ending, ended: Ended, text: str) -> TurnResult:
    match ending.kind:
        case EndKind.ANSWERED:
            return ended(Outcome.COMPLETED, text)
        case EndKind.TRUNCATED:
            return ended(Outcome.TRUNCATED, text, error=ending.error, failure=failure_of(ending))
        case EndKind.REFUSED:
            failure = Failure(code="content_filter")
            return ended(Outcome.FAILED, text, error=ending.error, failure=failure)
        case EndKind.STOPPED:
            return ended(Outcome.INTERRUPTED, text, error=ending.error)
        case EndKind.FAILED:
            error = ending.error or _SILENT
            return ended(Outcome.FAILED, text, error=error, failure=failure_of(ending))
