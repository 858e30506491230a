"""What is said of a leg that did not go as the agent wanted: stopped, refused, not stored."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

from hermes.core.errors import ApiError, Conflict, Unavailable
from hermes.core.runs import Run
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.runs.live_run import Cause

log = logging.getLogger(__name__)

_FAILURES = {Cause.TIMED_OUT: "run_timeout", Cause.NOT_STORED: "run_not_stored"}


def result_of(turn: asyncio.Future[Any], cause: Cause | None) -> TurnResult:
    """What came of a turn whose feed has ended; an agent that raised is a failed turn."""
    if not turn.done() or turn.cancelled():
        result = TurnResult(outcome=Outcome.INTERRUPTED)
    elif (error := turn.exception()) is not None:
        log.error("the agent raised", exc_info=error)
        result = TurnResult(
            outcome=Outcome.FAILED,
            error=f"The agent failed: {str(error) or type(error).__name__}",
            failure=Failure(code="agent_error"),
        )
    else:
        result = turn.result()
    return result if cause is None else stopped(result, cause)


def stopped(result: TurnResult, cause: Cause) -> TurnResult:
    """The same, if somebody put an end to the turn; an answer that was whole by then is one.

    A question is no answer: whoever stopped the run will not decide about it.
    """
    if result.outcome is Outcome.ASKING:
        result = replace(result, outcome=Outcome.INTERRUPTED, approvals=())
    if cause in _FAILURES and not result.is_complete:
        failure = Failure(code=_FAILURES[cause])
        return replace(result, outcome=Outcome.FAILED, error=cause.value, failure=failure)
    if result.outcome is Outcome.INTERRUPTED:
        return replace(result, error=cause.value)
    return result


def refused(error: ApiError) -> TurnResult:
    return TurnResult(outcome=Outcome.FAILED, error=error.message, failure=Failure(code=error.code))


def dismissed(run: Run) -> TurnResult:
    """Of a run that was ended in the store before it began."""
    message = str((run.error or {}).get("message") or Cause.STOPPED.value)
    return TurnResult(outcome=Outcome.INTERRUPTED, error=message)


def shutting_down() -> Unavailable:
    return Unavailable(
        "The gateway is shutting down; try again in a moment.",
        code="draining",
        headers={"Retry-After": "5"},
    )


def not_stored() -> Unavailable:
    return Unavailable(
        "The run cannot be stored, so it was not gone on with; the gateway's log says why.",
        code="run_store_unavailable",
        headers={"Retry-After": "5"},
    )


def carried_elsewhere(run_id: str) -> Conflict:
    return Conflict(
        f"Run {run_id} was taken up or deleted by somebody else. GET /v1/runs/{run_id} says what "
        "became of it."
    )
