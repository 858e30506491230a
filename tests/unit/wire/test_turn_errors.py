"""A failed turn as the error its caller can act on."""

from __future__ import annotations

import pytest
from openai.types.responses import ResponseError

from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.providers.failures import FailureKind
from hermes.wire.turn_errors import KINDS, chunk_error, response_error, turn_error


def failed(code: str, retry_after: float | None = None, text: str = "") -> TurnResult:
    failure = Failure(code=code, retry_after=retry_after)
    return TurnResult(outcome=Outcome.FAILED, error="the cause", failure=failure, text=text)


@pytest.mark.parametrize(
    ("code", "status", "shown"),
    [
        ("rate_limited", 429, "rate_limit_exceeded"),
        ("overloaded", 503, "provider_unavailable"),
        ("stalled", 503, "provider_unavailable"),
        ("auth", 502, "provider_error"),
        ("context_overflow", 400, "context_length_exceeded"),
        ("bad_request", 400, "provider_refused"),
        ("invalid_structured_output", 502, "invalid_structured_output"),
        ("something new", 502, "provider_error"),
    ],
)
def test_each_failure_has_a_status_and_a_code(code: str, status: int, shown: str):
    error = turn_error(failed(code))
    assert (error.status, error.code, error.message) == (status, shown, "the cause")
    assert chunk_error(failed(code))["code"] == shown


@pytest.mark.parametrize(
    ("seconds", "header"), [(None, "5"), (0.0, "1"), (2.1, "3"), (float("inf"), "5")]
)
def test_those_who_may_try_again_are_told_when(seconds: float | None, header: str):
    for code in ("rate_limited", "network"):
        assert turn_error(failed(code, seconds)).headers["Retry-After"] == header


def test_nobody_is_told_to_wait_where_waiting_does_not_help():
    assert "Retry-After" not in turn_error(failed("auth", 3.0)).headers


def test_what_text_there_is_travels_along():
    details = turn_error(failed("network", text="Half")).extra["hermes"]
    assert (details["partial_text"], details["failed"]) == ("Half", True)


def test_a_failure_nobody_explained_is_an_incomplete_agent():
    result = TurnResult(outcome=Outcome.FAILED, error="the cause")
    assert (turn_error(result).status, turn_error(result).code) == (502, "agent_incomplete")
    assert chunk_error(result)["code"] == "agent_failed"


def test_every_kind_of_provider_failure_is_known():
    assert {kind.value for kind in FailureKind} <= KINDS.keys()


@pytest.mark.parametrize("code", KINDS)
def test_a_response_gets_a_code_that_the_sdks_type_allows(code: str):
    ResponseError.model_validate(response_error(failed(code)), strict=True)
