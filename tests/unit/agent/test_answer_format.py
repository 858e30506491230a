"""Answers that have to be JSON, and turns whose client sets limits or hears of failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.answer_format import MOST_REPAIRS, fault_of, without_fence
from hermes.agent.loop import TRUNCATED
from hermes.core.errors import ConnectionLost, ProviderError
from hermes.core.messages import assistant, user
from hermes.core.turn import AnswerFormat, Failure, Outcome, Sampling, TurnParameters
from hermes.providers.refusals import RefusedByProvider
from tests.unit.agent.stage import ONE_CALL, Stage, calls, reply

Play = Callable[..., Stage]

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
NUMBER = AnswerFormat(schema=SCHEMA)
GOOD, BAD = '{"n": 1}', '{"n": "one"}'


def wanting(wanted: AnswerFormat = NUMBER) -> TurnParameters:
    return TurnParameters(answer_format=wanted)


# --- answers that have to be JSON -----------------------------------------------------------------


def test_the_provider_is_told_what_form_the_answer_has_to_have(stage: Play) -> None:
    turn = stage(reply(GOOD), parameters=wanting())
    assert turn.play().text == GOOD
    assert turn.asked[0]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_faulty_answer_nobody_saw_is_asked_for_again_and_forgotten(stage: Play) -> None:
    turn = stage(reply(BAD), reply(GOOD), parameters=wanting())
    result = turn.play()
    assert (result.outcome, result.text, result.api_calls) == (Outcome.COMPLETED, GOOD, 2)
    assert turn.recorded == [user("Hi."), assistant(GOOD)]
    assert list(result.messages) == turn.recorded
    assert result.usage == ONE_CALL + ONE_CALL
    *_, faulty, told = turn.asked[1]["messages"]
    assert faulty == assistant(BAD)
    assert "at $.n" in told["content"]


def test_an_answer_that_stays_faulty_fails_the_turn_and_is_kept(stage: Play) -> None:
    turn = stage(*[reply(BAD)] * (MOST_REPAIRS + 1), parameters=wanting())
    result = turn.play()
    assert (result.outcome, result.text) == (Outcome.FAILED, BAD)
    assert result.failure == Failure(code="invalid_structured_output")
    assert "requested format" in str(result.error)
    assert len(turn.asked) == MOST_REPAIRS + 1
    assert turn.recorded == [user("Hi."), assistant(BAD)]


def test_there_is_one_repair_however_the_model_comes_back_to_it(stage: Play) -> None:
    script = [reply(BAD), reply(None, calls("echo")), reply(BAD), reply(GOOD)]
    turn = stage(*script, parameters=wanting())
    result = turn.play()
    assert MOST_REPAIRS == 1
    assert (result.outcome, result.text) == (Outcome.FAILED, BAD)
    assert len(turn.asked) == 3


def test_a_model_that_was_never_told_the_schema_is_told_with_the_correction(stage: Play) -> None:
    turn = stage(reply("Sure! It is one."), reply(GOOD), parameters=wanting())
    assert turn.play().text == GOOD
    assert json.dumps(SCHEMA) in turn.asked[1]["messages"][-1]["content"]


def test_a_faulty_answer_that_was_seen_cannot_be_unsaid(stage: Play) -> None:
    turn = stage(reply(BAD), parameters=wanting(), is_watched=True)
    result = turn.play()
    assert (result.outcome, result.text) == (Outcome.FAILED, BAD)
    assert result.failure == Failure(code="invalid_structured_output")
    assert len(turn.asked) == 1


def test_json_in_a_code_block_is_taken_out_of_it(stage: Play) -> None:
    turn = stage(reply(f"```json\n{GOOD}\n```\n"), parameters=wanting())
    assert turn.play().text == GOOD
    assert turn.recorded[-1] == assistant(GOOD)


def test_a_code_block_that_was_seen_stays_and_is_no_json(stage: Play) -> None:
    said = f"```json\n{GOOD}\n```"
    result = stage(reply(said), parameters=wanting(), is_watched=True).play()
    assert (result.outcome, result.text) == (Outcome.FAILED, said)


def test_tools_may_be_used_on_the_way_to_an_answer(stage: Play) -> None:
    turn = stage(reply("Looking.", calls("echo")), reply(GOOD), parameters=wanting())
    assert turn.play().text == GOOD
    assert ("ran", "echo") in turn.log


def test_tools_may_be_used_after_a_faulty_answer(stage: Play) -> None:
    turn = stage(reply(BAD), reply(None, calls("echo")), reply(GOOD), parameters=wanting())
    assert turn.play().text == GOOD
    assert turn.asked[2]["messages"][-1]["content"] == "echo: nothing"


def test_an_answer_that_was_cut_is_not_called_faulty(stage: Play) -> None:
    result = stage(reply('{"n": ', finish_reason="length"), parameters=wanting()).play()
    assert (result.outcome, result.failure) == (Outcome.TRUNCATED, None)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/nowhere"},
        {"type": "object", "properties": {"n": {"$ref": "http://127.0.0.1:9/schema"}}},
        {"$ref": "#"},
    ],
)
def test_a_schema_nothing_can_be_checked_against_fails_the_turn(
    stage: Play, schema: dict[str, Any]
) -> None:
    result = stage(reply(GOOD), parameters=wanting(AnswerFormat(schema=schema))).play()
    assert result.outcome is Outcome.FAILED
    assert result.failure == Failure(code="bad_request")
    assert "schema for the answer cannot be used" in str(result.error)


@pytest.mark.parametrize(
    ("text", "wanted", "fault"),
    [
        (GOOD, NUMBER, None),
        ("{}", AnswerFormat(), None),
        ("[]", AnswerFormat(), "not a JSON object"),
        ("Sure: {}", AnswerFormat(), "not valid JSON"),
        ("NaN", AnswerFormat(schema={}), "not valid JSON"),
        ("[1]", AnswerFormat(schema={"type": "array"}), None),
        (BAD, NUMBER, "at $.n it breaks"),
    ],
)
def test_a_fault_is_named(text: str, wanted: AnswerFormat, fault: str | None) -> None:
    found = fault_of(text, wanted)
    assert found is None if fault is None else fault in str(found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(json_values, st.sampled_from(["```", "```json"]), st.sampled_from([None, 2]))
def test_a_code_block_around_json_is_all_that_is_taken_away(
    value: Any, fence: str, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert without_fence(text) == text
    assert without_fence(f"\n{fence}\n{text}\n```\n") == text


# --- how much may be said -------------------------------------------------------------------------


def limited(max_tokens: int) -> TurnParameters:
    return TurnParameters(sampling=Sampling(max_tokens=max_tokens, temperature=0.5))


def test_what_one_call_used_the_next_may_not_use_again(stage: Play) -> None:
    turn = stage(reply(None, calls("echo")), reply("Done."), parameters=limited(10))
    assert turn.play().outcome is Outcome.COMPLETED
    assert [asked["max_tokens"] for asked in turn.asked] == [10, 10 - ONE_CALL.output_tokens]
    assert [asked["temperature"] for asked in turn.asked] == [0.5, 0.5]


def test_when_nothing_may_be_said_any_more_the_model_is_not_asked(stage: Play) -> None:
    turn = stage(reply(None, calls("echo")), parameters=limited(ONE_CALL.output_tokens))
    result = turn.play()
    assert (result.outcome, result.error) == (Outcome.TRUNCATED, TRUNCATED)
    assert turn.recorded[-1]["content"] == "echo: nothing"


# --- what is said of a failure --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (
            RefusedByProvider("Slow down.", status_code=429, code="x", retry_after=7.0),
            Failure(code="rate_limited", retry_after=7.0),
        ),
        (RefusedByProvider("Trouble.", status_code=500, code="x"), Failure(code="overloaded")),
        (RefusedByProvider("Who?", status_code=401, code="x"), Failure(code="auth")),
        (RefusedByProvider("Pay.", status_code=402, code="x"), Failure(code="billing")),
        (
            RefusedByProvider("prompt is too long", status_code=400, code="x"),
            Failure(code="context_overflow"),
        ),
        (RefusedByProvider("No.", status_code=400, code="x"), Failure(code="bad_request")),
        (
            ProviderError("The demo model cannot see.", code="images_unsupported"),
            Failure(code="images_unsupported"),
        ),
        (ConnectionLost("Gone."), Failure(code="network")),
        (ProviderError("Silence.", code="stalled"), Failure(code="stalled")),
        (ValueError("What?"), Failure(code="unknown")),
    ],
)
def test_a_failed_turn_says_why_and_when_to_try_again(
    stage: Play, error: Exception, failure: Failure
) -> None:
    result = stage(*[error] * 3).play()
    assert (result.outcome, result.failure) == (Outcome.FAILED, failure)
    assert result.error == str(error)


def test_a_filtered_answer_has_a_code_of_its_own(stage: Play) -> None:
    result = stage(reply("Hm", finish_reason="content_filter")).play()
    assert result.failure == Failure(code="content_filter")
