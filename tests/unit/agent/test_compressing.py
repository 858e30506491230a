"""Where a conversation may be cut, and what is left of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.compressing import (
    beginning,
    cut_before,
    cuts,
    digests,
    divided_note,
    is_note,
    middle_cut,
    note_of,
    parts_of,
    tokens_behind,
    with_short_results,
    without_images,
    without_summary,
)
from hermes.core.messages import Message, assistant, settle_open_calls, text_of, tool, user
from hermes.core.tokens import estimate_tokens, message_tokens, text_tokens

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def step(name: str, *others: str) -> list[Message]:
    names = (name, *others)
    answers = [tool(each, "look", f"seen by {each} " * 20) for each in names]
    return [assistant(None, [call(each) for each in names]), *answers]


turns = st.lists(
    st.one_of(
        st.builds(lambda text: [user(text), assistant("Yes.")], st.text(max_size=200)),
        st.builds(
            lambda name, more: [user("Do."), *step(name), *step(*more), assistant("Done.")],
            st.text("abc", min_size=1, max_size=4),
            st.lists(st.text("def", min_size=1, max_size=4), min_size=1, max_size=3, unique=True),
        ),
    ),
    max_size=6,
).map(lambda lists: settle_open_calls([message for part in lists for message in part]))


def assert_lawful(messages: Sequence[Message]) -> None:
    """What every provider takes: results right behind their calls, the user first."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.discard(message["tool_call_id"])
        else:
            assert not waiting
            waiting = {each["id"] for each in message.get("tool_calls", ())}
    assert not waiting
    assert not messages or messages[0]["role"] == "user"


def assert_alternating(messages: Sequence[Message]) -> None:
    said = [message["role"] for message in messages[:3] if message["role"] != "tool"]
    assert all(one != other for one, other in pairwise(said)), said


@given(turns, st.integers(0, 400))
def test_whatever_is_cut_the_rest_is_lawful_behind_a_note(
    messages: list[Message], tokens: int
) -> None:
    cut = cut_before(messages, tokens)
    if cut == 0:
        return
    begun = beginning(note_of("Sum.", ""), messages[:cut], messages[cut:], most_request=100)
    told = [*begun, *messages[cut:]]
    assert_lawful(told)
    assert_alternating(told)
    assert is_note(told[0])


@given(turns, st.integers(0, 400))
def test_as_much_stays_as_fits(messages: list[Message], tokens: int) -> None:
    cut, places = cut_before(messages, tokens), list(cuts(messages))
    behind = tokens_behind(messages)
    if cut and behind[cut] > tokens:
        assert cut == places[-1], "only the last step may be larger than what fits"
    if not places:
        assert cut == 0


def test_a_cut_prefers_the_beginning_of_a_turn() -> None:
    messages = [user("x" * 400), *step("a"), assistant("Done."), user("Next."), assistant("Yes.")]
    turn = messages.index(user("Next."))
    assert cut_before(messages, tokens_behind(messages)[turn] + 3) == turn


def test_within_a_long_turn_the_request_stays_in_its_own_words() -> None:
    messages = [user("Old."), assistant("Yes."), user("Sort it out."), *step("a"), *step("b")]
    cut = cut_before(messages, message_tokens(messages[-1]) + message_tokens(messages[-2]))
    begun = beginning(note_of("S", ""), messages[:cut], messages[cut:], most_request=100)
    assert messages[cut:] == step("b")
    assert begun[-1] == user("Sort it out.")
    assert_lawful([*begun, *messages[cut:]])
    huge = beginning(note_of("S", ""), messages[:cut], messages[cut:], most_request=1)
    assert len(huge) == 1


def test_a_note_gives_back_what_was_put_into_it() -> None:
    first = [user("My name is Ada."), assistant("Hi."), user("Next.")]
    before, opening, rest = divided_note(first)
    assert (before, opening, rest) == (None, "My name is Ada.", first)
    told = [*beginning(note_of("Ada is here.", opening), first, [user("x")], most_request=9)]
    assert divided_note([*told, user("x")]) == ("Ada is here.", "My name is Ada.", [user("x")])


def test_without_a_summary_the_model_is_told_that_something_is_missing() -> None:
    assert "7 earlier messages" in without_summary(None, 7)
    assert without_summary("Ada.", 7).startswith("Ada.")


def test_only_results_are_cut_and_only_images_left_out() -> None:
    long = "y" * 5000
    messages = [user(long), *step("a"), tool("b", "look", long), user([PICTURE])]
    short = with_short_results(messages, 1000)
    assert short[:-2] == messages[:-2]
    assert len(short[-2]["content"]) < 1100 and "4000 characters left out" in short[-2]["content"]
    assert short[-1] == messages[-1]
    [*others, last] = without_images(messages)
    assert others == messages[:-1]
    assert last["content"][0]["type"] == "text"


@given(st.text(), st.integers(2, 50))
def test_a_cut_text_keeps_its_ends(text: str, longest: int) -> None:
    cut = middle_cut(text, longest)
    if len(text) <= longest:
        assert cut == text
    else:
        assert cut.startswith(text[: longest // 2])
        assert cut.endswith(text[-(longest // 2) :])


@given(turns, st.integers(50, 400), st.integers(2, 6))
def test_a_summary_is_asked_for_in_few_parts(
    messages: list[Message], tokens: int, most: int
) -> None:
    parts = parts_of(messages, tokens, most)
    assert len(parts) <= most
    for part in parts[:-1]:
        assert part, "no part is empty unless there is nothing"
    if len(parts) < most:
        assert sum(map(len, parts)) == len(messages)


def test_the_more_there_is_the_less_is_read_of_each_message() -> None:
    messages = [user(f"{at} " + "word " * 400) for at in range(40)]
    parts = parts_of(messages, 1000, 4)
    assert sum(map(len, parts)) == 40
    assert all(sum(map(text_tokens, part)) <= 1300 for part in parts)


def test_what_is_far_too_much_is_left_out_from_the_middle_with_a_word_about_it() -> None:
    parts = parts_of([user(f"{at} " + "word " * 100) for at in range(1000)], 500, 4)
    said = "\n".join(line for part in parts for line in part)
    assert len(parts) == 4
    assert "User: 0 " in said and "User: 999 " in said and "messages left out" in said


@given(turns)
def test_a_beginning_is_known_by_its_digest_whatever_follows(messages: list[Message]) -> None:
    whole = list(digests(messages, "me"))
    assert list(digests(messages[:2], "me")) == whole[:2]
    assert len(set(whole)) == len(whole)
    assert not set(whole) & set(digests(messages, "you"))


@pytest.mark.parametrize("text", ["\ud800", "ä", "\0"])
def test_a_digest_can_be_had_of_any_text(text: str) -> None:
    assert len(list(digests([user(text)], text))) == 1


@given(turns)
def test_what_stands_behind_a_place_is_summed_up(messages: list[Message]) -> None:
    behind = tokens_behind(messages)
    assert behind[-1] == 0
    assert len(behind) == len(messages) + 1
    assert estimate_tokens(messages) <= behind[0]
    assert all(text_of(message.get("content")) is not None for message in messages)
