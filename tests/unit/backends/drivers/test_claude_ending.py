"""How a run of Claude Code ended, from its lines and its exit."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.saying import Ending, EndKind, Exit, StopReason
from tests.unit.backends.drivers.claude_output import (
    INIT,
    SESSION,
    Line,
    delta,
    failure,
    read,
    result,
    start,
    stop,
    synthetic,
    text,
    whole,
)

WELL = Exit(code=0)
BADLY = Exit(code=1)


def ended(*told: Any, exit_: Exit = WELL, **how: bool) -> Ending:
    lines = ClaudeLines(**how)
    read(lines, *told)
    return lines.finish(exit_)


def test_it_is_an_answer_when_exit_code_and_last_result_say_so() -> None:
    ending = ended(start(), delta("Hello."), stop(), result("Hello."))
    assert (ending.kind, ending.text, ending.unsaid) == (EndKind.ANSWERED, "Hello.", "")


def test_the_least_that_a_result_may_have_is_an_answer() -> None:
    ending = ended({"type": "result", "result": "ok", "is_error": False})
    assert (ending.kind, ending.text, ending.unsaid) == (EndKind.ANSWERED, "ok", "ok")


def test_the_last_result_counts() -> None:
    ending = ended(result("First."), whole(text("Second.")), result("Second."))
    assert (ending.kind, ending.text) == (EndKind.ANSWERED, "Second.")


def test_what_of_the_answer_was_not_said_is_told() -> None:
    ending = ended(start(), delta("Hel"), result("Hello."))
    assert (ending.text, ending.unsaid) == ("Hello.", "lo.")


def test_an_answer_in_several_blocks_is_all_of_them() -> None:
    ending = ended(whole(text("First. ")), whole(text("Second.")), result("Second."))
    assert (ending.text, ending.unsaid) == ("First. Second.", "")


def test_a_good_result_and_a_bad_exit_is_no_answer() -> None:
    ending = ended(result("Hello."), exit_=Exit(code=1, stderr="out of memory"))
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_crashed")
    assert "out of memory" in (ending.error or "")


def test_a_process_that_was_given_up_after_its_answer_has_answered() -> None:
    assert ended(result("Hello."), exit_=Exit(code=None)).kind is EndKind.ANSWERED


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (401, "authentication"),
        (404, "bad_request"),
        (413, "context_overflow"),
        (429, "rate_limited"),
        (500, "overloaded"),
        (529, "overloaded"),
    ],
)
def test_a_refusal_of_the_provider_has_a_code(status: int, code: str) -> None:
    line = failure(f"API Error: {status} fake", api_error_status=status)
    ending = ended(INIT, line, exit_=BADLY)
    assert (ending.kind, ending.code) == (EndKind.FAILED, code)
    assert ending.error == f"API Error: {status} fake"


def test_an_error_that_is_called_success_and_exits_well_is_an_error() -> None:
    line = failure("API Error: 500", subtype="success", api_error_status=500)
    assert ended(line).kind is EndKind.FAILED


def test_who_is_told_to_wait_learns_how_long() -> None:
    retry = {"type": "system", "subtype": "api_retry", "retry_delay_ms": 1500, "error_status": 429}
    ending = ended(retry, failure("No.", api_error_status=429), exit_=BADLY)
    assert ending.retry_after == 1.5
    assert ended(retry, failure("No.", api_error_status=400), exit_=BADLY).retry_after is None


def test_a_failure_without_a_status_has_the_clis_own_name_for_it() -> None:
    told = synthetic("Not logged in", "authentication_failed"), failure("Not logged in")
    assert ended(*told, exit_=BADLY).code == "authentication"
    assert ended(failure("Connection refused"), exit_=BADLY).code == "network"


@pytest.mark.parametrize(
    ("line", "kind", "code"),
    [
        (result(None, subtype="error_max_turns"), EndKind.TRUNCATED, "max_turns"),
        (result(None, subtype="error_max_budget_usd"), EndKind.TRUNCATED, "budget_exhausted"),
        (result("Safeguards.", stop_reason="refusal"), EndKind.REFUSED, None),
        (result(None, subtype="error_during_execution"), EndKind.FAILED, "cli_crashed"),
        (result("Prompt is too long"), EndKind.FAILED, "context_overflow"),
    ],
)
def test_limits_and_refusals_are_told_apart(line: Line, kind: EndKind, code: str | None) -> None:
    reached = {"is_error": True, "errors": ["Reached a limit"]}
    ending = ended(start(), delta("So far"), line | reached, exit_=BADLY)
    assert (ending.kind, ending.code, ending.text) == (kind, code, "So far")
    assert ending.error in ("Reached a limit", line.get("result"))


def test_an_answer_over_every_output_limit_is_truncated() -> None:
    told = start(), delta("Once"), stop("max_tokens"), failure("Exceeded the maximum.")
    ending = ended(*told, exit_=BADLY)
    assert (ending.kind, ending.text) == (EndKind.TRUNCATED, "Once")


def test_an_answer_that_does_not_keep_to_its_schema_is_none() -> None:
    ending = ended(result("I will not."), has_schema=True)
    assert (ending.kind, ending.code, ending.text) == (EndKind.FAILED, "cli_garbage", "")


def test_output_that_breaks_off_is_an_error_and_keeps_what_was_said() -> None:
    exit_ = Exit(code=0, last_line_is_whole=False)
    ending = ended(start(), delta("Hello."), exit_=exit_)
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_output_truncated")
    assert ending.text == "Hello."


def test_a_complete_result_without_a_line_feed_is_a_result() -> None:
    ending = ended(result("Hello."), exit_=Exit(code=0, last_line_is_whole=False))
    assert ending.kind is EndKind.ANSWERED


def test_a_crash_without_a_line_has_the_words_of_standard_error() -> None:
    ending = ended(exit_=Exit(code=1, stderr="unknown option --restricted"))
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_crashed")
    assert "unknown option" in (ending.error or "")


@pytest.mark.parametrize(("exit_", "code"), [(WELL, "cli_garbage"), (BADLY, "cli_crashed")])
def test_output_that_is_no_json_is_shown(exit_: Exit, code: str) -> None:
    lines = ClaudeLines()
    lines.read(b"Segmentation fault")
    ending = lines.finish(exit_)
    assert (ending.kind, ending.code) == (EndKind.FAILED, code)
    assert "Segmentation fault" in (ending.error or "")


def test_silence_is_no_answer() -> None:
    assert ended().code == "cli_crashed"


@pytest.mark.parametrize(
    "told",
    [
        [failure("", errors=["No conversation found with session ID: x"])],
        [],
    ],
)
def test_a_session_that_the_cli_has_lost_is_told_as_such(told: list[Line]) -> None:
    exit_ = Exit(code=1, stderr="No conversation found with session ID: x")
    ending = ended(*told, exit_=exit_, keeps_session=True)
    assert (ending.code, ending.session_id) == ("cli_session_unknown", None)


def test_the_session_is_told_where_it_is_kept() -> None:
    assert ended(INIT, result(), keeps_session=True).session_id == SESSION
    assert ended(INIT, result()).session_id is None


def test_a_session_whose_first_turn_failed_goes_on_all_the_same() -> None:
    told = INIT, failure("No.", api_error_status=400)
    assert ended(*told, exit_=BADLY, keeps_session=True).session_id == SESSION


@pytest.mark.parametrize("reason", [StopReason.ASKED, StopReason.SHUTDOWN])
def test_a_stop_of_ours_is_no_failure(reason: StopReason) -> None:
    interrupted = result(None, subtype="error_during_execution", is_error=True)
    exit_ = Exit(code=1, stopped=reason)
    ending = ended(start(), delta("Half"), interrupted, exit_=exit_)
    assert (ending.kind, ending.text, ending.error) == (EndKind.STOPPED, "Half", None)


def test_a_clock_that_ran_out_is_a_failure() -> None:
    ending = ended(start(), exit_=Exit(code=-9, stopped=StopReason.IDLE))
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_timeout")
