"""The end of a stream adds what the reader has not seen: nothing twice, nothing lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.wire.answer import StreamedAnswer

CUT, TOOL = object(), object()


def streamed(*pieces: object) -> StreamedAnswer:
    """An answer of texts, ends of segments and tools."""
    answer = StreamedAnswer()
    for piece in pieces:
        if piece is CUT:
            answer.end_segment()
        elif piece is TOOL:
            answer.tool_ran()
        else:
            answer.add(str(piece))
    return answer


@given(st.text())
def test_a_text_that_was_never_streamed_is_missing_as_a_whole(final: str):
    assert streamed().missing_from(final) == final


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_text_that_was_streamed_is_not_missing(pieces: list[str]):
    assert streamed(*pieces).missing_from("".join(pieces)) == ""


@given(st.text(min_size=1), st.text(min_size=1).filter(lambda text: text.strip()))
def test_a_text_that_broke_off_lacks_only_its_end(said: str, rest: str):
    assert streamed(said).missing_from(said + rest) == rest


def test_what_was_said_before_a_tool_is_no_answer():
    assert streamed("Let me look", TOOL).missing_from("It is 42.") == "It is 42."
    assert streamed("42?", TOOL).missing_from("42?") == "42?"


def test_a_closed_segment_counts_as_said():
    assert streamed("Hello", CUT).missing_from("Hello") == ""
    assert streamed("part one", CUT, "part two", CUT).missing_from("part one\npart two") == ""
    assert streamed("part one", CUT, "part two").missing_from("part two") == ""


def test_another_text_after_a_closed_segment_is_missing():
    assert streamed("First try", CUT).missing_from("Second try") == "Second try"


def test_a_stream_that_says_something_else_is_left_alone():
    assert streamed("planning... ", "done").missing_from("done") == ""


def test_white_space_at_the_ends_makes_no_difference():
    assert streamed("Hello\n").missing_from("Hello") == ""
    assert streamed("Hello").missing_from("Hello\n") == ""
