"""Which messages of a turn are new, in each of the three forms agents hand them back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import Message
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.transcript import prior_count, stored_history, turn_messages

QUESTION = {"role": "user", "content": "new?"}
HISTORY: list[Message] = [
    {"role": "user", "content": "old?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_old"}]},
    {"role": "tool", "tool_call_id": "call_old", "content": "old"},
    {"role": "assistant", "content": "old."},
]
ANSWER: list[Message] = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_new"}]},
    {"role": "tool", "tool_call_id": "call_new", "content": "new"},
    {"role": "assistant", "content": "new."},
]

messages = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant"]),
    st.sampled_from(["a", "b", "new?"]),
)


def result(*transcript: Message, **fields: Any) -> TurnResult:
    return TurnResult(text="new.", messages=list(transcript), **fields)


def test_a_whole_transcript_is_stored_as_it_is():
    whole = [*HISTORY, QUESTION, *ANSWER]
    assert stored_history(HISTORY, [QUESTION], result(*whole)) == whole
    assert turn_messages(HISTORY, [QUESTION], result(*whole)) == [QUESTION, *ANSWER]
    assert prior_count(HISTORY, [QUESTION], result(*whole)) == 4


def test_this_turn_alone_is_put_behind_the_history():
    for turn in (ANSWER, [QUESTION, *ANSWER]):
        assert turn_messages(HISTORY, [QUESTION], result(*turn)) == [QUESTION, *ANSWER]
        assert stored_history(HISTORY, [QUESTION], result(*turn)) == [*HISTORY, QUESTION, *ANSWER]
        assert prior_count(HISTORY, [QUESTION], result(*turn)) == 0


def test_without_a_transcript_the_answer_itself_is_stored():
    said = {"role": "assistant", "content": "new."}
    assert turn_messages(HISTORY, [QUESTION], result()) == [QUESTION, said]
    assert stored_history(HISTORY, [QUESTION], result()) == [*HISTORY, QUESTION, said]


def test_a_turn_that_left_nothing_stores_the_question():
    nothing = TurnResult(outcome=Outcome.FAILED)
    assert stored_history(HISTORY, [QUESTION], nothing) == [*HISTORY, QUESTION]


def test_a_transcript_without_the_question_gets_it():
    assert stored_history(HISTORY, [QUESTION], result(*HISTORY, *ANSWER)) == [
        *HISTORY,
        QUESTION,
        *ANSWER,
    ]


def test_keys_an_agent_adds_do_not_hide_the_history():
    stamped = [{**message, "timestamp": 1.5} for message in [*HISTORY, QUESTION]]
    whole = [*stamped, *ANSWER]
    assert stored_history(HISTORY, [QUESTION], result(*whole)) == whole
    assert turn_messages(HISTORY, [QUESTION], result(*whole)) == whole[4:]


def test_asking_the_same_again_is_a_new_turn():
    once = [QUESTION, {"role": "assistant", "content": "new."}]
    assert stored_history(once, [QUESTION], result(*once)) == [*once, *once]
    assert stored_history(once, [QUESTION], result(*once, *once)) == [*once, *once]


@given(st.lists(messages, max_size=4), st.lists(messages, max_size=4))
def test_a_whole_transcript_always_equals_what_is_stored(
    history: list[Message], answer: list[Message]
):
    whole = result(*history, QUESTION, *answer)
    assert stored_history(history, [QUESTION], whole) == whole.messages
    assert turn_messages(history, [QUESTION], whole) == [QUESTION, *answer]


@given(st.lists(messages, max_size=4), st.lists(messages, max_size=6))
def test_a_turn_always_begins_with_its_question(history: list[Message], handed: list[Message]):
    assert turn_messages(history, [QUESTION], result(*handed))[0] == QUESTION
    stored = stored_history(history, [QUESTION], result(*handed))
    assert stored[: len(history)] == history
