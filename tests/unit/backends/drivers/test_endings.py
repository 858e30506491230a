"""Endings that are the same for every CLI."""

from __future__ import annotations

import pytest

from hermes.backends.drivers.endings import code_of_status, code_of_words, crashed, stopped
from hermes.backends.saying import EndKind, Exit, StopReason


@pytest.mark.parametrize("reason", [StopReason.ASKED, StopReason.SHUTDOWN])
def test_a_wish_is_no_failure(reason: StopReason) -> None:
    ending = stopped(Exit(code=-15, stopped=reason))
    assert ending is not None
    assert (ending.kind, ending.error) == (EndKind.STOPPED, None)


@pytest.mark.parametrize("reason", [reason for reason in StopReason if reason.is_fault])
def test_a_fault_says_what_was_wrong(reason: StopReason) -> None:
    ending = stopped(Exit(code=-9, stopped=reason))
    assert ending is not None
    assert (ending.kind, ending.error) == (EndKind.FAILED, reason.value)
    assert ending.code in ("cli_timeout", "cli_output_truncated")


def test_a_process_that_we_let_be_was_not_stopped() -> None:
    assert stopped(Exit(code=1)) is None


def test_a_crash_is_told_with_the_last_words() -> None:
    ending = crashed(Exit(code=3, stderr="bad flag\n"))
    assert (ending.error, ending.code) == ("The CLI ended with code 3: bad flag", "cli_crashed")


def test_a_signal_and_a_process_that_was_given_up_are_told_as_such() -> None:
    assert "signal 9" in (crashed(Exit(code=-9)).error or "")
    assert "did not end" in (crashed(Exit(code=None)).error or "")


def test_output_that_breaks_off_is_named() -> None:
    assert crashed(Exit(code=0, last_line_is_whole=False)).code == "cli_output_truncated"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("unexpected status 401 Unauthorized: no, url: http://x:44761/v1", "authentication"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        ("API Error: 529 Overloaded", "overloaded"),
        ("We're currently experiencing high demand", "overloaded"),
        ("Your input exceeds the context window", "context_overflow"),
        ("fetch failed: ECONNREFUSED 127.0.0.1:4000", "network"),
        ("You are not logged in; please log in", "authentication"),
        ("the dog ate it", None),
    ],
)
def test_words_are_understood(message: str, code: str | None) -> None:
    assert code_of_words(message) == code


def test_every_status_has_a_code() -> None:
    codes = {code_of_status(status) for status in range(400, 600)}
    assert codes == {
        "authentication",
        "bad_request",
        "budget_exhausted",
        "context_overflow",
        "overloaded",
        "rate_limited",
    }
