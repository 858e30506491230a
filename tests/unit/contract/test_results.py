"""Result dictionaries come from agents of every make; ours survive the journey unchanged."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contract.results import result_from, result_to_dict
from hermes.core.approvals import ApprovalRequest
from hermes.core.turn import Outcome, TurnResult, Usage

counts = st.integers(0, 10**9)
results = st.builds(
    TurnResult,
    text=st.text(),
    outcome=st.sampled_from(Outcome),
    error=st.none() | st.text(min_size=1),
    messages=st.lists(st.builds(lambda text: {"role": "user", "content": text}, st.text())),
    usage=st.builds(
        Usage,
        input_tokens=counts,
        output_tokens=counts,
        total_tokens=counts,
        cached_tokens=counts,
        reasoning_tokens=counts,
        cache_write_tokens=counts,
        cost_usd=st.none() | st.integers(0, 1000).map(float),
        is_cost_partial=st.booleans(),
        is_estimated=st.booleans(),
    ),
    session_id=st.none() | st.text(min_size=1),
    api_calls=counts,
    approvals=st.lists(
        st.builds(
            ApprovalRequest,
            id=st.text(),
            code=st.text(),
            call_id=st.text(),
            tool=st.text(),
            arguments=st.dictionaries(st.text(), st.text()),
            shown=st.text(),
            reason=st.text(),
            expires_at=st.floats(0, 2e9),
        ),
        max_size=2,
    ).map(tuple),
)


def usage_of(result: TurnResult) -> dict[str, int]:
    """The contract's usage dictionary has these three keys and no more."""
    return {
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "total_tokens": result.usage.total_tokens,
    }


@given(results)
def test_a_result_of_ours_comes_back_equal(result: TurnResult) -> None:
    given_away = result_to_dict(result, result.session_id)
    assert result_from(given_away, usage_of(result)) == result


@given(results)
def test_the_contracts_three_booleans_never_contradict_each_other(result: TurnResult) -> None:
    told = result_to_dict(result, None)
    assert told["completed"] is result.is_complete
    assert not (told["completed"] and (told["partial"] or told["failed"] or told["interrupted"]))
    assert not (told["failed"] and told["interrupted"])


def test_the_final_response_alone_is_a_completed_turn() -> None:
    assert result_from({"final_response": "hi"}, {}) == TurnResult(text="hi", messages=[])


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({}, Outcome.COMPLETED),
        ({"completed": True}, Outcome.COMPLETED),
        ({"completed": False}, Outcome.TRUNCATED),
        ({"partial": True, "completed": False}, Outcome.TRUNCATED),
        ({"failed": True, "completed": False}, Outcome.FAILED),
        ({"failed": True, "partial": True}, Outcome.FAILED),
        ({"interrupted": True, "completed": False}, Outcome.INTERRUPTED),
        ({"outcome": "interrupted"}, Outcome.INTERRUPTED),
        ({"outcome": "something new", "failed": True}, Outcome.FAILED),
        ({"failed": "yes", "partial": 1}, Outcome.COMPLETED),
    ],
)
def test_booleans_of_other_agents_are_read_as_one_outcome(
    told: dict[str, Any], outcome: Outcome
) -> None:
    assert result_from(told, {}).outcome is outcome


def test_only_the_total_may_be_known() -> None:
    assert result_from({}, {"total_tokens": 7}).usage == Usage(total_tokens=7)


def test_a_test_double_is_believed_nothing() -> None:
    """A MagicMock has every attribute and is true; none of it may reach JSON or a header."""
    fields = ("final_response", "messages", "session_id", "api_calls", "cached_tokens", "outcome")
    told = {field: MagicMock() for field in (*fields, "approvals")}
    usage = {field: MagicMock() for field in ("input_tokens", "output_tokens", "total_tokens")}
    assert result_from(told, usage) == TurnResult(messages=[])


@pytest.mark.parametrize("count", [True, "7", 7.5, None])
def test_a_count_that_is_no_integer_is_zero(count: object) -> None:
    assert result_from({"api_calls": count}, {"total_tokens": count}) == TurnResult(messages=[])


def test_an_error_of_any_type_is_told_in_words() -> None:
    assert result_from({"error": ValueError("no")}, {}).error == "no"
    assert result_from({"error": ""}, {}).error is None


def test_the_given_messages_are_not_shared_with_the_dictionary() -> None:
    messages = [{"role": "user", "content": "hi"}]
    told = result_to_dict(TurnResult(messages=messages), None)
    told["messages"].clear()
    assert len(messages) == 1
