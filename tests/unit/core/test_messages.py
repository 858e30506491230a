"""Messages, and histories that no provider has a reason to refuse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import (
    UNKNOWN_OUTCOME,
    Message,
    assistant,
    settle_open_calls,
    text_of,
    tool,
    tool_calls_of,
    user,
)


def call(call_id: str, name: str = "ls") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """What a store may hold: calls answered in any order, late, or never, ids used again."""
    history: list[Message] = []
    unanswered: list[str] = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["user", "text", "calls", "answers"]))
        if kind == "user":
            history.append(user(f"question {number}"))
        elif kind == "text":
            history.append(assistant(f"answer {number}"))
        elif kind == "calls":
            ids = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
            history.append(assistant(None, [call(call_id) for call_id in ids]))
            unanswered = [*(set(unanswered) - set(ids)), *ids]
        elif unanswered:
            answered = draw(st.lists(st.sampled_from(unanswered), unique=True))
            history.extend(tool(call_id, "ls", f"output {number}") for call_id in answered)
            unanswered = [call_id for call_id in unanswered if call_id not in answered]
    return history


@given(histories())
def test_every_call_is_answered_exactly_once_right_after_it(history: list[Message]) -> None:
    settled = settle_open_calls(history)
    rest = iter(settled)
    for message in rest:
        assert message["role"] != "tool", "an answer without a call"
        for asked in tool_calls_of(message):
            assert next(rest)["tool_call_id"] == asked["id"]


@given(histories())
def test_no_message_is_lost_and_the_conversation_keeps_its_order(history: list[Message]) -> None:
    settled = settle_open_calls(history)
    spoken = [message for message in history if message["role"] != "tool"]
    assert [message for message in settled if message["role"] != "tool"] == spoken
    outputs = [message for message in history if message["role"] == "tool"]
    kept = [message for message in settled if message.get("content") != UNKNOWN_OUTCOME]
    assert all(output in kept for output in outputs)
    assert len(kept) == len(history)


@given(histories())
def test_settling_twice_is_settling_once(history: list[Message]) -> None:
    settled = settle_open_calls(history)
    assert settle_open_calls(settled) == settled


@given(histories())
def test_the_history_itself_is_left_alone(history: list[Message]) -> None:
    before = [dict(message) for message in history]
    settle_open_calls(history)
    assert history == before


def test_a_call_left_open_by_a_killed_process_is_answered_before_the_next_question() -> None:
    asked = assistant("Looking.", [call("a", "terminal")])
    assert settle_open_calls([user("1"), asked, user("2")]) == [
        user("1"),
        asked,
        tool("a", "terminal", UNKNOWN_OUTCOME),
        user("2"),
    ]


def test_an_answer_that_came_after_another_turns_question_is_put_where_it_belongs() -> None:
    """Two turns of one session at the same time record their messages interleaved."""
    asked, answer = assistant(None, [call("a")]), tool("a", "ls", "late")
    assert settle_open_calls([asked, user("2"), answer]) == [asked, answer, user("2")]


def test_an_answer_belongs_to_the_latest_call_with_its_id() -> None:
    """Some servers number the calls of every reply from zero."""
    asked, answer = assistant(None, [call("0")]), tool("0", "ls", "second")
    settled = settle_open_calls([asked, user("again"), asked, answer])
    assert [m["content"] for m in settled if m["role"] == "tool"] == [UNKNOWN_OUTCOME, "second"]


def test_an_answer_to_a_call_nobody_made_is_left_for_the_provider_to_refuse() -> None:
    stray = tool("nobody", "ls", "out")
    assert settle_open_calls([user("1"), stray]) == [user("1"), stray]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("as it is", "as it is"),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (
            [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "b"}],
            "b",
        ),
    ],
)
def test_the_text_of_a_content_is_what_can_be_read(content: Any, text: str) -> None:
    assert text_of(content) == text


def test_an_assistant_message_mentions_tool_calls_only_when_there_are_some() -> None:
    assert assistant("hi") == {"role": "assistant", "content": "hi"}
    assert assistant(None, [call("a")])["tool_calls"] == [call("a")]


@pytest.mark.parametrize("calls", [None, "nonsense", {"id": "a"}])
def test_foreign_tool_calls_that_are_no_list_are_none(calls: Any) -> None:
    assert tool_calls_of({"role": "assistant", "content": "", "tool_calls": calls}) == []
