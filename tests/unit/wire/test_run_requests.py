"""Requests about runs: what they mean, and which of them are refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.approvals import Decision
from hermes.core.errors import ApiError, InvalidRequest
from hermes.core.runs import DETACH, RunQuery, RunStatus, WhenBusy
from hermes.wire.run_requests import (
    LONGEST_STEER,
    ApprovalAnswer,
    parse_after,
    parse_approval,
    parse_run,
    parse_run_query,
    parse_steer,
)

QUESTION = {"role": "user", "content": "Now?"}


def test_an_input_alone_is_a_run() -> None:
    asked = parse_run({"input": "Hello"})
    assert asked.user_message == "Hello"
    assert (asked.history, asked.tool_results, asked.metadata, asked.ignored) == ([], [], {}, ())
    assert (asked.session_id, asked.previous_response_id, asked.model) == (None, None, None)
    assert (asked.disconnect, asked.when_busy, asked.timeout, asked.wait) == (None, None, None, 0.0)


def test_everything_a_run_can_be_told_is_read() -> None:
    asked = parse_run(
        {
            "input": [{"role": "developer", "content": "Be brief."}, QUESTION],
            "instructions": "You are a clock.",
            "session_id": "s1",
            "model": "m",
            "metadata": {"a": "b"},
            "disconnect": "detach",
            "when_busy": "reject",
            "timeout": 90,
            "wait": 2.5,
            "temperature": 1,
        }
    )
    assert asked.user_message == "Now?"
    assert (asked.instructions, asked.added_instructions) == ("You are a clock.", "Be brief.")
    assert (asked.session_id, asked.model, asked.metadata) == ("s1", "m", {"a": "b"})
    assert (asked.disconnect, asked.when_busy) == (DETACH, WhenBusy.REJECT)
    assert (asked.timeout, asked.wait) == (90.0, 2.5)
    assert asked.ignored == ("temperature",)


def test_a_history_comes_before_what_the_input_says() -> None:
    asked = parse_run(
        {
            "conversation_history": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "One?"},
                {"role": "assistant", "content": "Two."},
            ],
            "input": "Three?",
        }
    )
    assert [message["content"] for message in asked.history] == ["One?", "Two."]
    assert (asked.user_message, asked.added_instructions) == ("Three?", "Be kind.")


def test_a_wait_in_the_query_wins() -> None:
    assert parse_run({"input": "Hello", "wait": 1}, {"wait": "20"}).wait == 20.0


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "input", "missing_required_parameter"),
        ({"input": 3}, "input", "invalid_type"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "input", "invalid_value"),
        ({"session_id": 1}, "session_id", "invalid_type"),
        ({"session_id": "a\nb"}, "session_id", "invalid_value"),
        ({"session_id": "x" * 257}, "session_id", "invalid_value"),
        ({"conversation_history": "hi"}, "conversation_history", "invalid_type"),
        ({"conversation_history": ["hi"]}, "conversation_history[0]", "invalid_type"),
        (
            {"conversation_history": [{"role": "robot"}]},
            "conversation_history[0].role",
            "invalid_value",
        ),
        ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
        ({"metadata": {str(at): "" for at in range(17)}}, "metadata", "invalid_value"),
        ({"disconnect": "later"}, "disconnect", "invalid_value"),
        ({"when_busy": "later"}, "when_busy", "invalid_value"),
        ({"timeout": 0}, "timeout", "invalid_value"),
        ({"timeout": 86_401}, "timeout", "invalid_value"),
        ({"timeout": "1"}, "timeout", "invalid_type"),
        ({"timeout": True}, "timeout", "invalid_type"),
        ({"wait": 301}, "wait", "invalid_value"),
        ({"wait": -1}, "wait", "invalid_value"),
        (
            {"session_id": "s", "previous_response_id": "resp_1"},
            "previous_response_id",
            "invalid_value",
        ),
        (
            {"session_id": "s", "conversation_history": [QUESTION]},
            "conversation_history",
            "invalid_value",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    body: dict[str, Any], param: str, code: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_run({"input": "Hello", **body} if body else body)
    assert (refused.value.param, refused.value.code) == (param, code)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_FIELDS = (
    "input",
    "conversation_history",
    "session_id",
    "metadata",
    "timeout",
    "wait",
    "disconnect",
    "decision",
    "approval_id",
    "text",
)


@given(st.dictionaries(st.sampled_from(_FIELDS), _json))
def test_no_body_breaks_a_reader(body: dict[str, Any]) -> None:
    for parse in (parse_run, parse_approval, parse_steer):
        try:
            parse(body)
        except ApiError as refused:
            assert refused.status == 400
            assert refused.param


def test_a_page_of_runs_is_asked_for() -> None:
    assert parse_run_query({}, owner="o") == RunQuery(owner="o", limit=20)
    assert parse_run_query(
        {"status": "queued, running,", "session_id": "s", "limit": "100", "after": "run_1"},
        owner="o",
    ) == RunQuery(
        owner="o",
        limit=100,
        after="run_1",
        statuses=frozenset({RunStatus.QUEUED, RunStatus.RUNNING}),
        session_id="s",
    )


@pytest.mark.parametrize(("name", "value"), [("limit", "0"), ("limit", "101"), ("status", "dead")])
def test_a_page_that_cannot_be_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_run_query({name: value}, owner="o")
    assert refused.value.param == name


def test_a_viewer_who_joins_again_is_taken_at_its_last_word() -> None:
    assert parse_after({}, {}) == 0
    assert parse_after({}, {"after": "4"}) == 4
    assert parse_after({"Last-Event-ID": "9"}, {"after": "4"}) == 9
    assert parse_after({"Last-Event-ID": ""}, {"after": "4"}) == 4


@pytest.mark.parametrize(
    ("headers", "query", "param"),
    [
        ({"Last-Event-ID": "run_1:3"}, {}, "Last-Event-ID"),
        ({"Last-Event-ID": "9" * 30}, {}, "Last-Event-ID"),
        ({}, {"after": "-1"}, "after"),
    ],
)
def test_a_place_in_the_log_is_a_number(
    headers: dict[str, str], query: dict[str, str], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_after(headers, query)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("word", "decision"),
    [
        *((decision.value, decision) for decision in Decision),
        ("yes", Decision.ONCE),
        ("approve", Decision.ONCE),
        ("Approved", Decision.ONCE),
        ("no", Decision.DENY),
        ("denied", Decision.DENY),
    ],
)
def test_a_decision_has_several_words(word: str, decision: Decision) -> None:
    assert parse_approval({"decision": word}) == ApprovalAnswer(decision=decision)


def test_a_decision_may_name_what_it_is_about() -> None:
    found = parse_approval({"decision": "deny", "approval_id": "appr_1"})
    assert found == ApprovalAnswer(decision=Decision.DENY, approval_id="appr_1")


@pytest.mark.parametrize("body", [{}, {"decision": "perhaps"}, {"decision": True}])
def test_what_is_no_decision_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_approval(body)
    assert refused.value.param == "decision"


def test_a_steer_is_taken_word_for_word() -> None:
    assert parse_steer({"text": " Use the other file. "}) == " Use the other file. "


@pytest.mark.parametrize("said", [None, "", "  \n", 3, "x" * (LONGEST_STEER + 1)])
def test_a_steer_that_says_nothing_or_too_much_is_refused(said: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_steer({"text": said})
    assert refused.value.param == "text"
